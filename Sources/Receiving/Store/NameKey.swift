/// A name as a key, compared by its bytes: texts that only look the same are two names on disk.
struct NameKey: Hashable, Sendable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (a: NameKey, b: NameKey) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

  func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
    hasher.combine(UInt8(0xFF))
  }
}

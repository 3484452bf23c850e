/// A file name in the file system's form: any bytes, not necessarily UTF-8.
struct RawName: Hashable {
  /// Ends with 0.
  let bytes: [CChar]

  /// Converts a text in the form of `PathText`.
  init(_ text: String) {
    bytes = PathText.bytes(of: text).map { CChar(bitPattern: $0) } + [0]
  }

  init(copying pointer: UnsafePointer<CChar>) {
    var bytes: [CChar] = []
    var next = pointer
    while next.pointee != 0 {
      bytes.append(next.pointee)
      next += 1
    }
    self.bytes = bytes + [0]
  }

  private var plain: [UInt8] { bytes.dropLast().map { UInt8(bitPattern: $0) } }

  /// The name in the form of `PathText`.
  var text: String { PathText.text(of: plain) }

  /// Whether the name is valid UTF-8.
  var isText: Bool { String(validating: plain, as: UTF8.self) != nil }
}

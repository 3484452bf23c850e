/// A file name as the file system has it: any bytes, not only UTF-8.
struct RawName: Hashable, Sendable {
  /// Ends in 0.
  let bytes: [CChar]

  /// `text` as `PathText` carries it.
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

  /// As `PathText` carries it.
  var text: String { PathText.text(of: plain) }

  /// Whether it is UTF-8.
  var isText: Bool { String(validating: plain, as: UTF8.self) != nil }
}

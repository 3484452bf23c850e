import SystemPackage

/// Reads lines from a descriptor as they arrive.
public struct LineReader: Sendable {
  private let descriptor: FileDescriptor
  private var buffer: [UInt8] = []
  private var isAtEnd = false

  public init(_ descriptor: FileDescriptor) {
    self.descriptor = descriptor
  }

  /// Waits for the next line and returns it without its line end; `nil` at the end of the stream. A
  /// last line without line end is dropped, because its writer did not finish it.
  public mutating func next() -> [UInt8]? {
    var searched = 0
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = Array(buffer[..<end])
        buffer.removeFirst(end + 1)
        return line
      }
      searched = buffer.count
      guard !isAtEnd else { return nil }
      let piece = try? [UInt8](unsafeUninitializedCapacity: 65536) { bytes, count in
        count = try descriptor.read(into: UnsafeMutableRawBufferPointer(bytes))
      }
      buffer += piece ?? []
      isAtEnd = piece?.isEmpty ?? true
    }
  }
}

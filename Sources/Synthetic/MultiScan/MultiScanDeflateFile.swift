import Media
import SystemPackage

/// Writes a `.zlib` file: consecutive frames in one DEFLATE stream, or in two.
struct MultiScanDeflateFile {
  private let file: GrowingFile
  private var encoder: DeflateEncoder
  private let format: DeflateFormat

  init(_ path: FilePath, format: DeflateFormat) throws {
    file = try GrowingFile(path)
    self.format = format
    encoder = DeflateEncoder(format: format)
  }

  mutating func append(_ bytes: [UInt8]) throws {
    var output: [UInt8] = []
    try encoder.append(bytes.span.bytes, to: &output)
    try file.append(output)
  }

  /// Ends the stream and begins another.
  mutating func startNextStream() throws {
    var output: [UInt8] = []
    try encoder.finish(to: &output)
    try file.append(output)
    encoder = DeflateEncoder(format: format)
  }

  /// Completes the file, with or without the stream's end mark. Without it a few of the last pixels
  /// are lost.
  mutating func finish(hasEndMark: Bool = true) throws {
    var output: [UInt8] = []
    try encoder.finish(to: &output)
    if !hasEndMark { output.removeLast(min(3, output.count)) }
    try file.append(output)
    try file.close()
  }
}

import CHDF5
import Core
import SystemPackage

/// A file, a group or a dataset of HDF5 that is being written, without anything that differs from run to run.
///
/// The library has one state: only one thread of the process may be in any of these functions.
public struct HDF5Object: Sendable {
  /// What the elements of a dataset are.
  public enum Element: Sendable {
    case uint8, uint16, int64, float64
    /// Any number of bytes each.
    case bytes
    /// UTF-8 of any length each.
    case text

    fileprivate var code: scanmill_hdf5_type {
      switch self {
      case .uint8: scanmill_hdf5_uint8
      case .uint16: scanmill_hdf5_uint16
      case .int64: scanmill_hdf5_int64
      case .float64: scanmill_hdf5_float64
      case .bytes: scanmill_hdf5_bytes
      case .text: scanmill_hdf5_text
      }
    }
  }

  private let handle: scanmill_hdf5
  /// The path of the file, for messages.
  private let path: FilePath
  private var element = Element.uint8
  private var dimensions: [Int] = []

  /// Loads the library, when it is first used; returns why it cannot be used, with the remedy, or `nil`.
  public static var libraryProblem: String? { scanmill_hdf5_load().map { String(cString: $0) } }

  /// An emptied file.
  ///
  /// - Parameter descriptor: the file, open for writing; it stays open, and can be flushed after `closeFile`.
  public static func file(
    _ descriptor: FileDescriptor, at path: FilePath
  ) throws(FileError) -> HDF5Object {
    if let problem = libraryProblem {
      throw FileError(kind: .other, path: path, operation: "write", reason: problem)
    }
    // The library opens names only: this one is the file whatever happened to its name.
    let handle = scanmill_hdf5_create("/proc/self/fd/\(descriptor.rawValue)")
    return try HDF5Object(handle, path)
  }

  private init(_ handle: scanmill_hdf5, _ path: FilePath) throws(FileError) {
    (self.handle, self.path) = (handle, path)
    try check(handle < 0 ? 1 : 0)
  }

  private func check(_ status: Int32) throws(FileError) {
    guard status != 0 else { return }
    let code = scanmill_hdf5_errno()
    throw code == 0
      ? FileError(
        kind: .other, path: path, operation: "write", reason: "HDF5 refuses what is written")
      : FileError(Errno(rawValue: code), path: path, operation: "write")
  }

  /// Closes the file with all that is open in it.
  public func closeFile() throws(FileError) { try check(scanmill_hdf5_close_file(handle)) }

  /// Calls `body` with a new group, which is closed afterward unless an error ends the writing of the file.
  public func group(_ name: String, _ body: (HDF5Object) throws -> Void) throws {
    let group = try HDF5Object(scanmill_hdf5_group(handle, name), path)
    try body(group)
    try check(scanmill_hdf5_close_group(group.handle))
  }

  /// A new dataset.
  ///
  /// - Parameters:
  ///   - dimensions: the first one counts rows; at most four.
  ///   - chunkRows: rows of a chunk; numbers are then compressed (shuffle, gzip), and `close` can change how many rows
  ///     there are. `nil`: one piece.
  public func dataset(
    _ name: String, _ element: Element, _ dimensions: [Int], chunkRows: Int? = nil,
    attributes: [String: String] = [:]
  ) throws(FileError) -> HDF5Object {
    var made = try HDF5Object(
      scanmill_hdf5_dataset(
        handle, name, element.code, Int32(dimensions.count), dimensions.map { UInt64($0) },
        UInt64(chunkRows ?? 0)), path)
    (made.element, made.dimensions) = (element, dimensions)
    for (name, text) in attributes.sorted(by: { $0.key < $1.key }) {
      try made.attribute(name, text)
    }
    return made
  }

  /// Closes a dataset.
  ///
  /// - Parameter rows: how many there are now; `nil`: as it was made.
  public func closeDataset(rows: Int? = nil) throws(FileError) {
    if let rows, rows != dimensions.first {
      try check(
        scanmill_hdf5_set_rows(
          handle, Int32(dimensions.count), ([rows] + dimensions.dropFirst()).map { UInt64($0) }))
    }
    try check(scanmill_hdf5_close_dataset(handle))
  }

  /// Writes whole rows of numbers, whose type is that of the elements.
  public func write<Number: BitwiseCopyable>(
    _ numbers: [Number], fromRow row: Int = 0
  ) throws(FileError) {
    let inRow = dimensions.dropFirst().reduce(1, *)
    guard inRow > 0, !numbers.isEmpty else { return }
    let first = [UInt64(row)] + dimensions.dropFirst().map { _ in 0 }
    let count = ([numbers.count / inRow] + dimensions.dropFirst()).map { UInt64($0) }
    try check(
      numbers.withUnsafeBytes {
        scanmill_hdf5_write(
          handle, element.code, Int32(count.count), first, count, $0.baseAddress)
      })
  }

  /// Writes one row of `bytes` or `text`.
  public func write(element bytes: [UInt8], row: Int) throws(FileError) {
    let ended = element.code == scanmill_hdf5_text ? bytes + [0] : bytes
    try check(
      ended.withUnsafeBytes {
        scanmill_hdf5_write_element(
          handle, element.code, UInt64(row), $0.baseAddress, bytes.count)
      })
  }

  /// Writes the chunk of one row, made by `chunk`.
  public func write(chunk: [UInt8], row: Int) throws(FileError) {
    try check(
      chunk.withUnsafeBytes {
        scanmill_hdf5_write_chunk(handle, [UInt64(row)], $0.baseAddress, chunk.count)
      })
  }

  /// Adds text to any object.
  public func attribute(_ name: String, _ text: String) throws(FileError) {
    try check(scanmill_hdf5_attribute(handle, name, text))
  }

  /// Numbers as the filters shuffle and gzip of a dataset store them; may be called from any thread.
  public static func chunk(_ values: [UInt8]) throws(DeflateError) -> [UInt8] {
    var compressor = try ZlibCompressor(level: 4)
    var output: [UInt8] = []
    try compressor.append(values.span.bytes, to: &output)
    return output
  }

  /// Low bytes before high bytes, whatever the order of the machine.
  public static func chunk(_ values: [UInt16]) throws(DeflateError) -> [UInt8] {
    try chunk(
      [UInt8](unsafeUninitializedCapacity: 2 * values.count) { bytes, initialized in
        for (index, value) in values.enumerated() {
          bytes[index] = UInt8(truncatingIfNeeded: value)
          bytes[values.count + index] = UInt8(truncatingIfNeeded: value >> 8)
        }
        initialized = 2 * values.count
      })
  }
}

import Core
import SystemPackage

/// Scans a text table line by line, in constant memory.
///
///     var scanner = try CSVScanner(path)
///     while try scanner.nextLine() {
///       guard scanner.cellCount == 3, let time = scanner.timestamp(inCell: 0) else { continue }
///       …
///     }
///
/// Lines end with LF, CR LF or CR; empty and blank lines are skipped; a byte order mark at the
/// start and NUL bytes at the end of the file are ignored. Blanks around cells and quotes that
/// enclose them are removed. A cell never continues on the next line.
///
/// Memory: one piece of the file, and one line if that is longer. Cost: linear in the text.
public struct CSVScanner {
  /// Separator of cells; changing it splits the current line again.
  public var delimiter = UInt8(ascii: ",") {
    didSet { split() }
  }
  /// Number of the current line, from 1; empty lines are counted.
  public private(set) var lineNumber = 0
  /// Offset of the current line in the file.
  public private(set) var byteOffset = 0
  /// Whether the current line has a line end. Only the last line of a file may have none; its last
  /// cell may then be cut.
  public private(set) var isLineClosed = true
  /// Whether the current line exceeds the length limit; it then has no cells.
  public private(set) var isLineTooLong = false

  let pieces: PieceReader
  var piece: [UInt8]
  /// Range of the current line in `piece`.
  var line = 0..<0
  /// Ranges of the current line's cells in `piece`, without blanks and quotes.
  var cells: [Range<Int>] = []

  /// Range of unread bytes in `piece`.
  private var unread = 0..<0
  /// Offset of `unread` in the file.
  private var unreadOffset = 0
  private let longestLine: Int
  private var lastEndWasCR = false

  /// Opens `path`. Folders and devices are an error. Lines above `longestLine` bytes have no cells.
  public init(
    _ path: FilePath, pieceBytes: Int = 1 << 18, longestLine: Int = 1 << 16
  ) throws(FileError) {
    self.init(try PieceReader(path), pieceBytes: pieceBytes, longestLine: longestLine)
  }

  /// Scans text in memory.
  public init(bytes: [UInt8], pieceBytes: Int = 1 << 18, longestLine: Int = 1 << 16) {
    self.init(PieceReader(bytes: bytes), pieceBytes: pieceBytes, longestLine: longestLine)
  }

  private init(_ pieces: PieceReader, pieceBytes: Int, longestLine: Int) {
    self.pieces = pieces
    self.longestLine = longestLine
    piece = [UInt8](repeating: 0, count: max(4, min(pieceBytes, pieces.count + 1)))
  }

  /// Advances to the next line that is not empty; `false` at the end of the text.
  public mutating func nextLine() throws(FileError) -> Bool {
    while try takeLine() {
      split()
      if isLineTooLong || !isBlank(line) { return true }
    }
    line = 0..<0
    cells = []
    return false
  }

  /// Advances to the next line, empty or not.
  private mutating func takeLine() throws(FileError) -> Bool {
    isLineTooLong = false
    var searched = 0
    var dropped = 0
    if lastEndWasCR {
      if unread.isEmpty { _ = try readMore() }
      if !unread.isEmpty, piece[unread.lowerBound] == UInt8(ascii: "\n") { consume(1) }
      lastEndWasCR = false
    }
    if unreadOffset == 0 { try skipByteOrderMark() }
    while true {
      if let end = lineEnd(in: (unread.lowerBound + searched)..<unread.upperBound) {
        lastEndWasCR = piece[end] == UInt8(ascii: "\r")
        finish(upTo: end, closed: true, dropped: dropped)
        consume(end + 1 - unread.lowerBound)
        return true
      }
      searched = unread.count
      if searched > longestLine {
        isLineTooLong = true
        dropped += searched
        consume(searched)
        searched = 0
      }
      guard try readMore() else { break }
    }
    guard !unread.isEmpty || isLineTooLong else { return false }
    finish(upTo: unread.upperBound, closed: false, dropped: dropped)
    consume(unread.count)
    return true
  }

  private mutating func finish(upTo end: Int, closed: Bool, dropped: Int) {
    line = unread.lowerBound..<end
    lineNumber += 1
    byteOffset = unreadOffset - dropped
    isLineClosed = closed
  }

  private mutating func consume(_ count: Int) {
    unread = (unread.lowerBound + count)..<unread.upperBound
    unreadOffset += count
  }

  /// Moves unread bytes to the front of `piece` and reads more; `false` at the end of the text.
  private mutating func readMore() throws(FileError) -> Bool {
    if unread.lowerBound > 0 {
      piece.withUnsafeMutableBufferPointer { bytes in
        let rest = UnsafeMutableBufferPointer(rebasing: bytes[unread])
        _ = bytes.update(fromContentsOf: rest)
      }
      unread = 0..<unread.count
    }
    if unread.count == piece.count {
      piece.append(contentsOf: repeatElement(0, count: piece.count))
    }
    let more = try piece.readPiece(
      from: pieces, at: unreadOffset + unread.count, into: unread.upperBound..<piece.count)
    unread = 0..<unread.count + more
    return more > 0
  }

  private mutating func skipByteOrderMark() throws(FileError) {
    while unread.count < 3 { guard try readMore() else { return } }
    if piece[unread].starts(with: [0xEF, 0xBB, 0xBF]) { consume(3) }
  }

  private func lineEnd(in range: Range<Int>) -> Int? {
    let bytes = piece.span
    for index in range where bytes[index] <= UInt8(ascii: "\r") {
      if bytes[index] == UInt8(ascii: "\n") || bytes[index] == UInt8(ascii: "\r") { return index }
    }
    return nil
  }
}

extension CSVScanner {
  /// Number of cells of the current line, including a last empty one after a delimiter.
  public var cellCount: Int { cells.count }

  /// The text of the current line without its line end; malformed UTF-8 is repaired.
  public var lineText: String { String(decoding: piece[line], as: UTF8.self) }

  /// The text of a cell; empty where the line has no such cell. Malformed UTF-8 is repaired.
  public func text(inCell cell: Int) -> String {
    guard cells.indices.contains(cell) else { return "" }
    let text = String(decoding: piece[cells[cell]], as: UTF8.self)
    guard isQuoted(cell), text.utf8.contains(UInt8(ascii: "\"")) else { return text }
    var single = ""
    var lastWasQuote = false
    for character in text.unicodeScalars {
      lastWasQuote = character == "\"" && !lastWasQuote
      if character != "\"" || lastWasQuote { single.unicodeScalars.append(character) }
    }
    return single
  }

  /// Whether a cell contains only blanks, or does not exist.
  public func isEmpty(cell: Int) -> Bool {
    !cells.indices.contains(cell) || cells[cell].isEmpty
  }

  /// Whether a cell's bytes are exactly `bytes`. Cost: no allocation.
  public func cell(_ cell: Int, holds bytes: [UInt8]) -> Bool {
    cells.indices.contains(cell) && piece[cells[cell]].elementsEqual(bytes)
  }

  /// The value of a cell as a double.
  public func number(inCell cell: Int) -> CSVNumber {
    guard cells.indices.contains(cell) else { return .empty }
    return CSVNumber(piece.span, cells[cell])
  }

  /// The integer nearest to the cell's decimal number × 10^`scale`, ties away from zero; the scale
  /// is 0 for nanoseconds, 9 for seconds. No floating-point number is involved. `nil` when the cell
  /// is not a finite number or does not fit.
  public func timestamp(inCell cell: Int, scale: Int = 0) -> Timestamp? {
    guard cells.indices.contains(cell) else { return nil }
    if scale == 0, let plain = plainInteger(cells[cell]) { return Timestamp(nanoseconds: plain) }
    return Timestamp(decimal: text(inCell: cell), scale: scale)
  }

  /// Reads `[+-]? digits` with up to 18 digits; more could overflow and go through exact
  /// arithmetic.
  private func plainInteger(_ range: Range<Int>) -> Int64? {
    let bytes = piece.span
    var index = range.lowerBound
    guard index < range.upperBound else { return nil }
    let negative = bytes[index] == UInt8(ascii: "-")
    if negative || bytes[index] == UInt8(ascii: "+") { index += 1 }
    guard (1...18).contains(range.upperBound - index) else { return nil }
    var value: Int64 = 0
    while index < range.upperBound {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      value = value &* 10 &+ Int64(digit)
      index += 1
    }
    return negative ? -value : value
  }

  /// Finds the cells of the current line.
  mutating func split() {
    cells.removeAll(keepingCapacity: true)
    guard !isLineTooLong, !isBlank(line) else { return }
    var start = line.lowerBound
    while let end = cellEnd(from: start) {
      cells.append(trimmed(start..<end))
      start = end + 1
    }
    cells.append(trimmed(start..<line.upperBound))
  }

  func isBlank(_ range: Range<Int>) -> Bool {
    let bytes = piece.span
    for index in range where !Self.isBlank(bytes[index]) { return false }
    return true
  }

  /// The delimiter that ends the cell at `start`; `nil` for the last cell of the line.
  private func cellEnd(from start: Int) -> Int? {
    let bytes = piece.span
    var index = start
    while index < line.upperBound, bytes[index] != delimiter, Self.isBlank(bytes[index]) {
      index += 1
    }
    if index < line.upperBound, bytes[index] == UInt8(ascii: "\""),
      let close = closingQuote(of: index)
    {
      index = close + 1
    }
    while index < line.upperBound {
      if bytes[index] == delimiter { return index }
      index += 1
    }
    return nil
  }

  /// Position of the quote that closes the one at `open`; `nil` if the line has none, in which case
  /// the quote is an ordinary character.
  private func closingQuote(of open: Int) -> Int? {
    let bytes = piece.span
    var index = open + 1
    while index < line.upperBound {
      if bytes[index] == UInt8(ascii: "\"") {
        guard index + 1 < line.upperBound, bytes[index + 1] == UInt8(ascii: "\"") else {
          return index
        }
        index += 1
      }
      index += 1
    }
    return nil
  }

  private func trimmed(_ range: Range<Int>) -> Range<Int> {
    let bytes = piece.span
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high, Self.isBlank(bytes[low]) { low += 1 }
    while high > low, Self.isBlank(bytes[high - 1]) { high -= 1 }
    let quote = UInt8(ascii: "\"")
    if high - low >= 2, bytes[low] == quote, bytes[high - 1] == quote { return low + 1..<high - 1 }
    return low..<high
  }

  private func isQuoted(_ cell: Int) -> Bool {
    let before = cells[cell].lowerBound - 1
    return before >= line.lowerBound && piece[before] == UInt8(ascii: "\"")
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }
}

/// Reads the bytes of a text file piece by piece, at any offset.
///
/// The file is not mapped: mapped pages of a long table would count as memory of the process.
struct PieceReader {
  private enum Source {
    case file(OpenFile)
    case bytes([UInt8])
  }

  private let source: Source
  /// Size of the text in bytes, without the NUL bytes that a file system may leave at the end after
  /// a crash.
  private(set) var count: Int

  /// Opens `path`. Folders and devices are an error.
  init(_ path: FilePath) throws(FileError) {
    let identity = try FileIdentity(of: path)
    try InputLimits.bytesOfTable.check(Int(clamping: identity.bytes), of: path)
    source = .file(try OpenFile(path))
    count = Int(identity.bytes)
    try dropTrailingNULs()
  }

  init(bytes: [UInt8]) {
    source = .bytes(bytes)
    count = (bytes.lastIndex { $0 != 0 } ?? -1) + 1
  }

  /// Fills `buffer` from byte `offset` on. Returns the number of bytes read, 0 at the end.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
    let wanted = min(buffer.count, count - offset)
    guard wanted > 0 else { return 0 }
    switch source {
    case .file(let file):
      return try file.read(
        at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
    case .bytes(let bytes):
      buffer.copyBytes(from: bytes[offset..<offset + wanted])
      return wanted
    }
  }

  private mutating func dropTrailingNULs() throws(FileError) {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while count > 0 {
      let start = max(0, count - piece.count)
      let wanted = count - start
      var got = 0
      while got < wanted {
        let more = try piece.readPiece(from: self, at: start + got, into: got..<wanted)
        guard more > 0 else { break }
        got += more
      }
      if let last = piece[..<got].lastIndex(where: { $0 != 0 }) {
        count = start + last + 1
        return
      }
      count = start
    }
  }
}

extension [UInt8] {
  /// Reads into the bytes of `range`. Returns the number of bytes read.
  mutating func readPiece(
    from pieces: PieceReader, at offset: Int, into range: Range<Int>
  ) throws(FileError) -> Int {
    try withUnsafeMutableBufferPointer { (bytes) throws(FileError) in
      try pieces.read(
        at: offset,
        into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: bytes[range])))
    }
  }
}

/// A file descriptor that is closed with its last reference.
private final class OpenFile: Sendable {
  private let path: FilePath
  private let descriptor: FileDescriptor

  init(_ path: FilePath) throws(FileError) {
    self.path = path
    do throws(Errno) {
      descriptor = try EnclosedPaths.openForReading(path)
    } catch {
      throw FileError(error, path: path, operation: "open")
    }
  }

  deinit {
    try? descriptor.close()
  }

  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
    do {
      return try descriptor.read(fromAbsoluteOffset: Int64(offset), into: buffer)
    } catch let error as Errno {
      throw FileError(error, path: path, operation: "read")
    } catch {
      throw FileError(kind: .other, path: path, operation: "read", reason: "\(error)")
    }
  }
}

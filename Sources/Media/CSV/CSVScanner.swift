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

/// A box (QuickTime: atom) of a movie: the one reader of their heads.
struct MovieBox {
  /// Four characters.
  let type: String
  /// Where it begins in the file.
  let offset: Int64
  /// Size in bytes as the box's head states it, which may reach beyond its end.
  let statedBytes: Int64
  /// What follows the head, up to the end of the box or of what holds it.
  let content: Range<Int64>
  /// Where the next one begins.
  let end: Int64

  /// The box at `offset`; `nil` where none can begin: fewer than 8 bytes before `limit`, or a size below that of its
  /// head.
  ///
  /// Cost: 16 bytes read.
  init?(_ input: MediaInput, at offset: Int64, before limit: Int64) throws(VideoError) {
    guard limit - offset >= 8 else { return nil }
    let head = try input.bytes(at: offset, count: 16)
    guard head.count >= 8 else { return nil }
    var size = Self.number(head[..<4])
    var start: Int64 = 8
    if size == 1, head.count == 16 {
      size = Self.number(head[8...])
      start = 16
    } else if size == 0 {
      size = limit - offset
    }
    guard size >= start else { return nil }
    type = String(decoding: head[4..<8], as: UTF8.self)
    self.offset = offset
    statedBytes = size
    end = offset + min(size, limit - offset)
    content = offset + start..<max(end, offset + start)
  }

  /// A big-endian number, limited to the range of `Int64`.
  static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    Int64(clamping: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}

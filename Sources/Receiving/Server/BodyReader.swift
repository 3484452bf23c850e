import HummingbirdCore
import NIOCore

/// The body of a request, piece by piece. Used by one task.
struct BodyReader {
  private var pieces: RequestBody.AsyncIterator
  private let connection: ConnectionState
  /// Number of the request on its connection, from 1.
  private let number: Int
  private(set) var bytes: Int64 = 0
  /// Why no more comes, once what came before was handed out.
  private var failure: BodyError?

  init(_ body: RequestBody, _ connection: ConnectionState, number: Int) {
    pieces = body.makeAsyncIterator()
    self.connection = connection
    self.number = number
  }

  /// The next bytes; `nil` at the end of the body. Throws when it ends before its end.
  mutating func next() async throws(BodyError) -> ByteBuffer? {
    connection.with { $0.waitingSince = .now() }
    defer { connection.with { $0.waitingSince = nil } }
    let piece: ByteBuffer?
    do {
      piece = try await pieces.next()
    } catch {
      throw error as? BodyError ?? .cut
    }
    if let piece {
      bytes += Int64(piece.readableBytes)
      return piece
    }
    // The library ends a body that was cut as it ends one that is whole.
    let number = number
    guard connection.with({ $0.endsSeen >= number }) else { throw .cut }
    return nil
  }

  /// The next pieces together, about `most` bytes; empty at the end. What came before a body ends too early is
  /// handed out first: a sender whose connections break again and again gets on all the same.
  mutating func next(about most: Int) async throws(BodyError) -> [ByteBuffer] {
    if let failure { throw failure }
    var gathered: [ByteBuffer] = []
    var count = 0
    do throws(BodyError) {
      while count < most, let piece = try await next() {
        count += piece.readableBytes
        gathered.append(piece)
      }
    } catch {
      if gathered.isEmpty { throw error }
      failure = error
    }
    return gathered
  }

  /// A small body as a whole; `nil` if it has more than `most` bytes.
  mutating func whole(atMost most: Int) async throws(BodyError) -> [UInt8]? {
    var all: [UInt8] = []
    while let piece = try await next() {
      all += piece.readableBytesView
      if all.count > most { return nil }
    }
    return all
  }
}

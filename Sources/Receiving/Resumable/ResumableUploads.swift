import HTTPTypes
import NIOCore
import Core
import Synchronization

/// Pieces of uploads that can be resumed (`TusRoutes`).
struct ResumableUploads {
  let store: UploadStore
  let work: FileWork
  let metrics: ReceiverMetrics
  private let finished = FinishedUploads()
  /// Number of bytes that are handed to the disk at a time.
  private static let pieceBytes = 256 << 10

  /// How a piece ended.
  enum PieceEnd {
    /// The file is whole and has its name.
    case finished(UploadOutcome)
    /// More is to come, from this offset on.
    case open(Int64)
    /// The piece is not what its sender says; it was dropped.
    case wrongDigest
    case refused(UploadRefusal)
    /// The connection ended in the piece; what came is kept.
    case cut(BodyError)
  }

  // MARK: Questions

  /// What is known of an upload; `nil`: nothing, or it is over.
  func state(_ id: String) async -> ResumableState? {
    let store = store
    return await work.run { store.resumable(id) }
  }

  /// The length of an upload that was finished a while ago; `nil`: none of this id is known.
  func finishedLength(_ id: String) -> Int64? { finished.length(id) }

  // MARK: Steps

  func begin(_ request: UploadRequest) async throws(UploadRefusal) -> IncomingFile {
    let store = store
    return try await work.attempt { () throws(UploadRefusal) in try store.begin(request) }
  }

  func resume(_ id: String) async throws(UploadRefusal) -> IncomingFile {
    let store = store
    return try await work.attempt { () throws(UploadRefusal) in try store.resume(id) }
  }

  /// Gives an upload back that nothing was done with.
  func suspend(_ upload: IncomingFile) async throws(UploadRefusal) {
    try await work.attempt { () throws(UploadRefusal) in try upload.suspend() }
  }

  func terminate(_ id: String) async throws(UploadRefusal) {
    let store = store
    try await work.attempt { () throws(UploadRefusal) in try store.terminate(id) }
  }

  /// Receives a piece. What has come of an upload that is not over is on the disk afterwards.
  ///
  /// - Parameter digest: what the piece must have; the piece counts as a whole or not at all.
  func receive(
    _ body: inout BodyReader, into upload: IncomingFile, digest: PieceDigest?
  ) async -> PieceEnd {
    do throws(UploadRefusal) {
      try await work.attempt { () throws(UploadRefusal) in
        try upload.beginPiece(isChecked: digest != nil)
      }
      while true {
        let pieces: [ByteBuffer]
        do throws(BodyError) {
          pieces = try await body.next(about: Self.pieceBytes)
        } catch {
          metrics.count { $0.interrupted += 1 }
          if digest != nil {
            try await work.attempt { () throws(UploadRefusal) in try upload.dropPiece() }
          }
          try await suspend(upload)
          return .cut(error)
        }
        if pieces.isEmpty { break }
        try await work.attempt { () throws(UploadRefusal) in
          for piece in pieces { try upload.append(piece, digest) }
        }
      }
      if let digest, !digest.matches() {
        try await work.attempt { () throws(UploadRefusal) in try upload.dropPiece() }
        try await suspend(upload)
        return .wrongDigest
      }
      guard upload.received == upload.request.length else {
        try await suspend(upload)
        return .open(upload.received)
      }
    } catch {
      // The received part is kept after a full disk and after a piece longer than announced.
      let isKept = [.noSpace, .failed, .tooLarge].contains(error.kind)
      await work.run {
        do throws(UploadRefusal) {
          guard isKept else { return upload.abort() }
          if error.kind == .tooLarge { try upload.dropPiece() }
          try upload.suspend()
        } catch {
          upload.abort()
        }
      }
      return .refused(error)
    }
    return await finish(upload)
  }

  /// Ends an upload of which everything is there.
  func finish(_ upload: IncomingFile) async -> PieceEnd {
    do throws(UploadRefusal) {
      let outcome = try await work.attempt { () throws(UploadRefusal) in try upload.finish() }
      finished.note(upload.id, outcome.bytes)
      metrics.count(outcome)
      return .finished(outcome)
    } catch {
      return error.kind == .wrongDigest ? .wrongDigest : .refused(error)
    }
  }
}

extension IncomingFile {
  /// Adds a piece of a body, to `digest` as well.
  func append(_ piece: ByteBuffer, _ digest: PieceDigest? = nil) throws(UploadRefusal) {
    try piece.withUnsafeReadableBytes { bytes in
      Result { () throws(UploadRefusal) in
        try append(bytes)
        digest?.update(bytes)
      }
    }.get()
  }
}

/// The digest of a piece, and what it must be. Used by one thread at a time.
///
/// Unchecked: libcrypto's contexts may be used from any thread, by one after the other, which the caller sees to.
final class PieceDigest: @unchecked Sendable {
  private let digest: MessageDigest
  private let expected: [UInt8]

  init(_ algorithm: MessageDigest.Algorithm, expected: [UInt8]) {
    digest = MessageDigest(algorithm)
    self.expected = expected
  }

  func update(_ bytes: UnsafeRawBufferPointer) { digest.update(bytes) }

  /// To be called once.
  func matches() -> Bool { digest.finalizeHex() == MessageDigest.hex(expected) }
}

/// Lengths of uploads that were finished a while ago, by id: a sender whose connection ended before the last answer asks
/// for them. After a new start it sends the file again, which changes nothing.
private final class FinishedUploads: Sendable {
  private struct State {
    var lengths: [String: Int64] = [:]
    var order: [String] = []
  }

  private let state = Mutex(State())
  private static let most = 4_096

  func note(_ id: String, _ length: Int64) {
    state.withLock { state in
      if state.order.count >= Self.most {
        for old in state.order.prefix(Self.most / 2) { state.lengths[old] = nil }
        state.order.removeFirst(Self.most / 2)
      }
      state.lengths[id] = length
      state.order.append(id)
    }
  }

  func length(_ id: String) -> Int64? { state.withLock { $0.lengths[id] } }
}

import Core
import FoundationEssentials
import HTTPTypes
import NIOCore
import NIOPosix

/// What the apps ask for, and the newer interface for whole captures.
struct UploadRoutes {
  let store: UploadStore
  let work: FileWork
  let metrics: ReceiverMetrics
  /// Number of bytes that are handed to the disk at a time.
  private static let pieceBytes = 256 << 10

  // MARK: /upload

  /// `PUT /upload` with the name in a header.
  func upload(_ exchange: inout Exchange) async throws(AnswerError) -> Plan {
    let names = exchange.values("FILE_NAME")
    guard names.count == 1, let fileName = names.first else {
      throw AnswerError(
        .message(
          .badRequest, "the header FILE_NAME is missing: a proxy may drop headers with underscores",
          outcome: "no name"))
    }
    let request: UploadRequest
    do throws(UploadRefusal) {
      let name = try UploadName(fileName: fileName, endings: store.limits.endings)
      exchange.capture = name.capture
      exchange.name = name.name
      request = try self.request(exchange, name)
    } catch {
      exchange.name = String(fileName.prefix(255))
      throw AnswerError(.refusal(error))
    }
    return try await receive(request, exchange, Self.uploaded)
  }

  static func uploaded(_ outcome: UploadOutcome) -> Answer {
    outcome.kind == .identical
      ? .message(.ok, "File already exists on server", outcome: "identical")
      : .message(.ok, "ok", outcome: outcome.kind.rawValue)
  }

  private func request(
    _ exchange: Exchange, _ name: UploadName
  ) throws(UploadRefusal) -> UploadRequest {
    if exchange.field("Content-Range") != nil {
      throw UploadRefusal(.invalid, "parts of files are not accepted: send the whole file")
    }
    return UploadRequest(
      name: name, length: nil, sender: exchange.sender, userAgent: exchange.userAgent)
  }

  /// Checks what the header tells, then receives the body.
  private func receive(
    _ request: UploadRequest, _ exchange: Exchange,
    _ answer: @escaping @Sendable (UploadOutcome) -> Answer
  ) async throws(AnswerError) -> Plan {
    if Self.tellsOfPart(exchange) {
      throw AnswerError(
        .refusal(UploadRefusal(.invalid, "parts of files are not accepted: send the whole file")))
    }
    var request = request
    request.length = try exchange.length()
    let upload: IncomingFile
    do throws(UploadRefusal) {
      let (store, request) = (store, request)
      upload = try await work.attempt { () throws(UploadRefusal) in try store.begin(request) }
    } catch {
      throw AnswerError(.refusal(error))
    }
    return .read { [self] body in
      do throws(UploadRefusal) {
        let outcome = try await take(&body, into: upload)
        metrics.count(outcome)
        return answer(outcome)
      } catch {
        await work.run { upload.abort() }
        return .refusal(error, closes: true)
      }
    }
  }

  /// Whether a request says that its body is a part of a file, by any iteration of the draft of the IETF for resumable
  /// uploads, which is not spoken here: it must not be taken for the whole file. Parameters of a field are passed over.
  private static func tellsOfPart(_ exchange: Exchange) -> Bool {
    func value(_ name: String) -> Substring? { exchange.field(name)?.prefix { !" ;".contains($0) } }
    return value("Upload-Complete") == "?0" || value("Upload-Incomplete") == "?1"
      || value("Upload-Offset").flatMap { Int64($0) } ?? 0 > 0
  }

  private func take(
    _ body: inout BodyReader, into upload: IncomingFile
  ) async throws(UploadRefusal) -> UploadOutcome {
    while true {
      let pieces: [ByteBuffer]
      do throws(BodyError) {
        pieces = try await body.next(about: Self.pieceBytes)
      } catch {
        metrics.count { $0.interrupted += 1 }
        throw UploadRefusal(error == .cut ? .invalid : .tooSlow, error.message)
      }
      if pieces.isEmpty { break }
      try await work.attempt { () throws(UploadRefusal) in
        for piece in pieces { try upload.append(piece) }
      }
    }
    return try await work.attempt { () throws(UploadRefusal) in try upload.finish() }
  }

  // MARK: /verify and /process

  func verify(_ exchange: inout Exchange) async throws(AnswerError) -> Answer {
    guard let raw = exchange.target.raw("filename"), !raw.isEmpty,
      let checksum = exchange.target.raw("checksum")
    else {
      throw AnswerError(
        .message(.badRequest, "filename and checksum are needed", outcome: "invalid"))
    }
    let isDigest =
      checksum.utf8.count == 32
      && checksum.utf8.allSatisfy(\.isHexDigit)
    guard isDigest else {
      throw AnswerError(
        .message(
          .badRequest, "checksum is not an MD5 digest of 32 hexadecimal digits",
          outcome: "invalid"))
    }
    let store = store
    do throws(UploadRefusal) {
      let found = try await work.attempt { () throws(UploadRefusal) in
        try store.verify(PercentEncoding.meanings(of: raw), md5: checksum)
      }
      exchange.capture = found.name?.capture ?? ""
      exchange.name = found.name?.name ?? String(raw.prefix(255))
      switch found.answer {
      case .matches:
        metrics.count { $0.verified += 1 }
        return .message(.ok, "ok", outcome: "verified")
      case .differs:
        metrics.count { $0.mismatches += 1 }
        return .message(
          .badRequest, "File hash mismatch. Send the file again.", outcome: "mismatch")
      case .unknown:
        return .message(.notFound, "File does not exist on server", outcome: "unknown")
      }
    } catch {
      throw AnswerError(.refusal(error))
    }
  }

  func process(_ capture: String, _ exchange: inout Exchange) async throws(AnswerError) -> Answer {
    exchange.capture = capture
    let store = store
    do throws(UploadRefusal) {
      let isKnown = try await work.attempt { () throws(UploadRefusal) in
        try store.requestProcessing(of: capture)
      }
      return isKnown
        ? .message(.ok, "ok", outcome: "process requested")
        : .message(.notFound, "Nothing of that capture was received", outcome: "unknown")
    } catch {
      throw AnswerError(.refusal(error))
    }
  }

  // MARK: /captures

  /// `PUT /captures/<capture>/files/<name>`.
  func put(
    _ capture: String, _ path: String, _ exchange: inout Exchange
  ) async throws(AnswerError) -> Plan {
    exchange.capture = capture
    exchange.name = path
    var request: UploadRequest
    do throws(UploadRefusal) {
      let name = try UploadName(capture: capture, path: path, endings: store.limits.endings)
      request = try self.request(exchange, name)
      request.md5 = try Self.digest(exchange.field("Content-MD5"), bytes: 16, "Content-MD5")
      request.sha256 = try Self.sha256(exchange.field("Repr-Digest"))
    } catch {
      throw AnswerError(.refusal(error))
    }
    return try await receive(request, exchange, Self.put)
  }

  static func put(_ outcome: UploadOutcome) -> Answer {
    outcome.kind == .stored || outcome.kind == .keptBoth
      ? .message(.created, "stored", outcome: outcome.kind.rawValue)
      : .message(
        .ok, outcome.kind == .identical ? "File already exists on server" : "replaced",
        outcome: outcome.kind.rawValue)
  }

  /// Hex digits of a digest in Base64; `nil` without one.
  static func digest(
    _ text: String?, bytes count: Int, _ field: String
  ) throws(UploadRefusal) -> String? {
    guard let text else { return nil }
    guard let bytes = Data(base64Encoded: text), bytes.count == count else {
      throw UploadRefusal(.invalid, "\(field) is not a digest in Base64")
    }
    return MessageDigest.hex([UInt8](bytes))
  }

  /// The digest in `sha-256=:…:`; other digests are passed over.
  static func sha256(_ field: String?) throws(UploadRefusal) -> String? {
    for part in (field ?? "").split(separator: ",") {
      let text = part.drop { $0 == " " }
      guard text.lowercased().hasPrefix("sha-256=") else { continue }
      let value = text.dropFirst("sha-256=".count)
      guard value.first == ":", value.last == ":", value.utf8.count > 2 else {
        throw UploadRefusal(.invalid, "Repr-Digest is not sha-256=:…:")
      }
      return try digest(String(value.dropFirst().dropLast()), bytes: 32, "Repr-Digest")
    }
    return nil
  }

  private struct CompletionBody: Decodable {
    var files: [UploadStore.Declared]?
  }

  /// `POST /captures/<capture>/complete`.
  func complete(_ capture: String, _ exchange: inout Exchange) throws(AnswerError) -> Plan {
    exchange.capture = capture
    let sender = exchange.sender
    // A body without a length is none.
    if !exchange.isChunked, exchange.fields[.contentLength] == nil {
      return .read { [self] _ in await completed(capture, nil, sender) }
    }
    return .read { [self] body in
      do throws(BodyError) {
        guard let bytes = try await body.whole(atMost: 64 << 20) else {
          return .message(.contentTooLarge, "the list is too long", closes: true)
        }
        if bytes.isEmpty { return await completed(capture, nil, sender) }
        guard let list = try? CompletionBody(json: bytes) else {
          return .message(
            .badRequest,
            "the list is not JSON of the form {\"files\":[{\"name\",\"bytes\",\"sha256\"}]}",
            outcome: "invalid")
        }
        return await completed(capture, list.files, sender)
      } catch {
        return .message(.badRequest, error.message, outcome: "cut", closes: true)
      }
    }
  }

  private func completed(
    _ capture: String, _ list: [UploadStore.Declared]?, _ sender: String
  ) async -> Answer {
    let store = store
    do throws(UploadRefusal) {
      let answer = try await work.attempt { () throws(UploadRefusal) in
        try store.complete(capture, list, sender: sender)
      }
      return .json(
        answer.isComplete ? .ok : .conflict,
        [
          "message": answer.isComplete ? "complete" : "the capture is not complete",
          "missing": answer.missing, "different": answer.different,
        ] as JSONObject,
        outcome: answer.isComplete ? "complete" : "incomplete")
    } catch {
      return .refusal(error)
    }
  }
}

extension BodyError {
  /// For the person who sends.
  var message: String {
    switch self {
    case .stalled: "nothing arrived for too long: send the file again"
    case .slow: "the connection is too slow: send the file again"
    case .cut: "the connection ended before the file did: send it again"
    }
  }
}

/// Runs what waits for the disk on threads of its own, never on those that serve connections.
final class FileWork: Sendable {
  private let pool: NIOThreadPool

  init(threads: Int = 16) {
    pool = NIOThreadPool(numberOfThreads: threads)
    pool.start()
  }

  func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      pool.submit { _ in continuation.resume(returning: body()) }
    }
  }

  func attempt<Result: Sendable>(
    _ body: @escaping @Sendable () throws(UploadRefusal) -> Result
  ) async throws(UploadRefusal) -> Result {
    try await run { Swift.Result(catching: body) }.get()
  }

  func end() async { try? await pool.shutdownGracefully() }
}

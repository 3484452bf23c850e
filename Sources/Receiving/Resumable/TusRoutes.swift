import FoundationEssentials
import HTTPTypes
import Core

/// tus 1.0.0 at `/tus/`: core, creation, creation-with-upload, termination, checksum, expiration.
///
/// An upload is a file of a capture (`Upload-Metadata`: `filename`, `capture`, `sha256`); without `capture` the name tells
/// it, as for `/upload`. Finished uploads are stored as every other one.
struct TusRoutes {
  let uploads: ResumableUploads
  private static let version = "1.0.0"
  private static let contentType = "application/offset+octet-stream"

  private static let locked = HTTPResponse.Status(code: 423, reasonPhrase: "Locked")
  private static let checksumMismatch = HTTPResponse.Status(
    code: 460, reasonPhrase: "Checksum Mismatch")

  /// `parts`: behind `/tus`.
  func plan(_ exchange: inout Exchange, _ parts: [String]) async throws(AnswerError) -> Plan {
    do throws(AnswerError) {
      let plan = try await checked(&exchange, parts)
      switch plan {
      case .answer(let answer): return .answer(Self.signed(answer))
      case .read(let read): return .read { body in Self.signed(await read(&body)) }
      }
    } catch {
      throw AnswerError(Self.signed(error.answer))
    }
  }

  private func checked(
    _ exchange: inout Exchange, _ parts: [String]
  ) async throws(AnswerError) -> Plan {
    let method =
      exchange.field("X-HTTP-Method-Override").flatMap { HTTPRequest.Method($0) }
      ?? exchange.request.method
    if method == .options { return .answer(options()) }
    guard exchange.field("Tus-Resumable") == Self.version else {
      var answer = Answer.message(
        .preconditionFailed, "this server speaks tus \(Self.version)", outcome: "version")
      Self.set("Tus-Version", Self.version, in: &answer)
      throw AnswerError(answer)
    }
    switch (method, parts.count) {
    case (.post, 0): return try await create(&exchange)
    case (.head, 1): return .answer(try await head(parts[0]))
    case (.patch, 1): return try await patch(parts[0], &exchange)
    case (.delete, 1): return .answer(try await delete(parts[0]))
    default:
      var answer = Answer.message(
        .methodNotAllowed, "use \(parts.isEmpty ? "POST, OPTIONS" : "HEAD, PATCH, DELETE")",
        outcome: "method")
      answer.fields[.allow] = parts.isEmpty ? "POST, OPTIONS" : "HEAD, PATCH, DELETE, OPTIONS"
      throw AnswerError(answer)
    }
  }

  private func options() -> Answer {
    var answer = Answer(status: .noContent, outcome: "options")
    Self.set("Tus-Version", Self.version, in: &answer)
    Self.set(
      "Tus-Extension", "creation,creation-with-upload,termination,checksum,expiration",
      in: &answer)
    Self.set("Tus-Checksum-Algorithm", "md5,sha1,sha256", in: &answer)
    if let most = uploads.store.limits.file { Self.set("Tus-Max-Size", "\(most)", in: &answer) }
    return answer
  }

  // MARK: Creation

  private func create(_ exchange: inout Exchange) async throws(AnswerError) -> Plan {
    guard let length = Self.number(exchange.field("Upload-Length")) else {
      let isDeferred = exchange.field("Upload-Defer-Length") != nil
      throw Self.invalid(
        isDeferred ? "the length must be told at the beginning" : "Upload-Length is missing")
    }
    let request: UploadRequest
    do throws(UploadRefusal) {
      request = try self.request(&exchange, length)
    } catch {
      throw AnswerError(.refusal(error))
    }
    let hasBody = try Self.hasBody(exchange)
    let digest = hasBody ? try Self.digest(exchange) : nil
    if hasBody, exchange.fields[.contentType] != Self.contentType { throw Self.unknownType }
    do throws(UploadRefusal) {
      if !hasBody, exchange.field("Upload-Reuse") == "?1", let found = await reusable(request) {
        return .answer(created(found.id, at: found.offset, exchange, outcome: "resumed"))
      }
      let upload = try await uploads.begin(request)
      let exchange = exchange
      guard hasBody else {
        if length == 0 {
          return .answer(ended(await uploads.finish(upload), upload, created: exchange))
        }
        try await uploads.suspend(upload)
        return .answer(created(upload.id, at: 0, exchange, outcome: "created"))
      }
      return .read { [self] body in
        let end = await uploads.receive(&body, into: upload, digest: digest)
        // The sender of a refused upload does not learn its address and cannot resume it.
        if case .refused = end { try? await uploads.terminate(upload.id) }
        return ended(end, upload, created: exchange)
      }
    } catch {
      throw AnswerError(.refusal(error))
    }
  }

  /// An upload of the same file that was broken off. For `scanmill send`, which remembers nothing.
  private func reusable(_ request: UploadRequest) async -> (id: String, offset: Int64)? {
    guard let sha256 = request.sha256 else { return nil }
    let store = uploads.store
    return await uploads.work.run {
      store.suspended(request.name, length: request.length, sha256: sha256)
    }
  }

  private func request(
    _ exchange: inout Exchange, _ length: Int64
  ) throws(UploadRefusal) -> UploadRequest {
    let raw = exchange.field("Upload-Metadata") ?? ""
    let metadata = try Self.metadata(raw)
    guard let fileName = metadata["filename"] else {
      throw UploadRefusal(.invalid, "Upload-Metadata has no filename")
    }
    exchange.name = fileName
    let endings = uploads.store.limits.endings
    let name =
      if let capture = metadata["capture"] {
        try UploadName(capture: capture, path: fileName, endings: endings)
      } else {
        try UploadName(fileName: fileName, endings: endings)
      }
    exchange.capture = name.capture
    var sha256: String?
    if let text = metadata["sha256"] {
      guard text.utf8.count == 64, text.utf8.allSatisfy(\.isHexDigit) else {
        throw UploadRefusal(.invalid, "sha256 is not a digest of 64 hexadecimal digits")
      }
      sha256 = text.lowercased()
    }
    return UploadRequest(
      name: name, length: length, sender: exchange.sender, userAgent: exchange.userAgent,
      sha256: sha256, resumableMetadata: raw)
  }

  /// `name d29ybGQ=,other,…`: values by key. Throws for what is not of that form.
  static func metadata(_ text: String) throws(UploadRefusal) -> [String: String] {
    var values: [String: String] = [:]
    if text.isEmpty { return values }
    for pair in text.split(separator: ",", omittingEmptySubsequences: false) {
      let words = pair.split(separator: " ")
      guard let key = words.first, words.count <= 2, values[String(key)] == nil,
        key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
      else { throw UploadRefusal(.invalid, "Upload-Metadata cannot be read") }
      var value = ""
      if words.count == 2 {
        guard let bytes = Data(base64Encoded: String(words[1])),
          let text = String(validating: bytes, as: UTF8.self)
        else {
          throw UploadRefusal(
            .invalid, "Upload-Metadata: the value of \(key) is not Base64 of UTF-8")
        }
        value = text
      }
      values[String(key)] = value
    }
    return values
  }

  // MARK: An upload

  private func head(_ id: String) async throws(AnswerError) -> Answer {
    var answer = Answer(status: .ok, outcome: "offset")
    answer.fields[.cacheControl] = "no-store"
    if let state = await uploads.state(id) {
      Self.set("Upload-Offset", "\(state.received)", in: &answer)
      if let length = state.expected { Self.set("Upload-Length", "\(length)", in: &answer) }
      if !state.metadata.isEmpty { Self.set("Upload-Metadata", state.metadata, in: &answer) }
      Self.set("Upload-Expires", Self.date(state.expires), in: &answer)
    } else if let length = uploads.finishedLength(id) {
      Self.set("Upload-Offset", "\(length)", in: &answer)
      Self.set("Upload-Length", "\(length)", in: &answer)
    } else {
      throw Self.unknown
    }
    return answer
  }

  private func patch(_ id: String, _ exchange: inout Exchange) async throws(AnswerError) -> Plan {
    guard let state = await uploads.state(id) else {
      if let length = uploads.finishedLength(id),
        Self.number(exchange.field("Upload-Offset")) == length
      {
        return .answer(open(at: length, expires: nil))
      }
      throw Self.unknown
    }
    (exchange.capture, exchange.name) = (state.name.capture, state.name.name)
    guard exchange.fields[.contentType] == Self.contentType else { throw Self.unknownType }
    guard let offset = Self.number(exchange.field("Upload-Offset")) else {
      throw Self.invalid("Upload-Offset is missing")
    }
    let digest = try Self.digest(exchange)
    let count = try exchange.length()
    let upload: IncomingFile
    do throws(UploadRefusal) {
      upload = try await uploads.resume(id)
    } catch {
      throw Self.error(error)
    }
    let problem: Answer? =
      if upload.received != offset {
        Answer.message(
          .conflict, "the upload has \(upload.received) bytes, not \(offset)", outcome: "offset")
      } else if let count, let length = upload.request.length, count > length - offset {
        Answer.message(
          .contentTooLarge, "more bytes than the \(length) that were announced",
          outcome: "too large")
      } else {
        nil
      }
    if let problem {
      do throws(UploadRefusal) { try await uploads.suspend(upload) } catch {
        throw Self.error(error)
      }
      throw AnswerError(problem)
    }
    return .read { [self] body in
      ended(await uploads.receive(&body, into: upload, digest: digest), upload, created: nil)
    }
  }

  private func delete(_ id: String) async throws(AnswerError) -> Answer {
    guard await uploads.state(id) != nil else { throw Self.unknown }
    do throws(UploadRefusal) {
      try await uploads.terminate(id)
    } catch {
      throw Self.error(error)
    }
    return Answer(status: .noContent, outcome: "terminated")
  }

  // MARK: Answers

  private func ended(
    _ end: ResumableUploads.PieceEnd, _ upload: IncomingFile, created exchange: Exchange?
  ) -> Answer {
    func success(_ offset: Int64, _ outcome: String, isOver: Bool) -> Answer {
      guard let exchange else {
        var answer = open(at: offset, expires: isOver ? nil : expiry)
        answer.outcome = outcome
        return answer
      }
      return created(upload.id, at: offset, exchange, outcome: outcome, isOver: isOver)
    }
    switch end {
    case .finished(let outcome):
      return success(outcome.bytes, outcome.kind.rawValue, isOver: true)
    case .open(let offset): return success(offset, "piece", isOver: false)
    case .wrongDigest:
      return .message(
        Self.checksumMismatch, "the checksum differs: send it again", outcome: "wrong digest")
    case .refused(let refusal): return .refusal(refusal, closes: true)
    case .cut(let error):
      return .message(.badRequest, error.message, outcome: "cut", closes: true)
    }
  }

  private var expiry: Int64 { uploads.store.now() &+ uploads.store.limits.resumableLifetime }

  private func open(at offset: Int64, expires: Int64?) -> Answer {
    var answer = Answer(status: .noContent, outcome: "piece")
    Self.set("Upload-Offset", "\(offset)", in: &answer)
    if let expires { Self.set("Upload-Expires", Self.date(expires), in: &answer) }
    return answer
  }

  private func created(
    _ id: String, at offset: Int64, _ exchange: Exchange, outcome: String, isOver: Bool = false
  ) -> Answer {
    var answer = Answer(status: .created, outcome: outcome)
    answer.fields[.location] = "\(exchange.target.base)/tus/\(id)"
    Self.set("Upload-Offset", "\(offset)", in: &answer)
    if !isOver { Self.set("Upload-Expires", Self.date(expiry), in: &answer) }
    return answer
  }

  private static func signed(_ answer: Answer) -> Answer {
    var answer = answer
    set("Tus-Resumable", version, in: &answer)
    return answer
  }

  private static func set(_ name: String, _ value: String, in answer: inout Answer) {
    if let name = HTTPField.Name(name) { answer.fields[name] = value }
  }

  private static let unknown = AnswerError(
    .message(.notFound, "no such upload, or it has expired", outcome: "unknown"))
  private static let unknownType = AnswerError(
    .message(.unsupportedMediaType, "the content type must be \(contentType)", outcome: "type"))

  private static func invalid(_ message: String) -> AnswerError {
    AnswerError(.message(.badRequest, message, outcome: "invalid"))
  }

  private static func error(_ refusal: UploadRefusal) -> AnswerError {
    refusal.kind == .conflict
      ? AnswerError(.message(locked, refusal.message, outcome: "locked"))
      : AnswerError(.refusal(refusal))
  }

  // MARK: Fields

  /// A number of digits only; `nil` for anything else.
  private static func number(_ text: String?) -> Int64? {
    guard let text, !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else {
      return nil
    }
    return Int64(text)
  }

  private static func hasBody(_ exchange: Exchange) throws(AnswerError) -> Bool {
    if exchange.isChunked { return true }
    guard exchange.fields[.contentLength] != nil else { return false }
    return try exchange.length() != 0
  }

  /// `Upload-Checksum: sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=`; `nil` without one.
  private static func digest(_ exchange: Exchange) throws(AnswerError) -> PieceDigest? {
    guard let field = exchange.field("Upload-Checksum") else { return nil }
    let words = field.split(separator: " ")
    guard words.count == 2 else { throw invalid("Upload-Checksum cannot be read") }
    guard let algorithm = MessageDigest.Algorithm(rawValue: words[0].lowercased()) else {
      throw invalid("Upload-Checksum: md5, sha1 and sha256 are known")
    }
    guard let bytes = Data(base64Encoded: String(words[1])), bytes.count == algorithm.byteCount
    else { throw invalid("Upload-Checksum is not a digest in Base64") }
    return PieceDigest(algorithm, expected: [UInt8](bytes))
  }

  /// The time as HTTP writes dates: `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func date(_ nanoseconds: Int64) -> String {
    let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let number = max(0, nanoseconds / 86_400_000_000_000)
    let day = CivilDay(number: number)
    let clock = UTCText.text(nanoseconds: nanoseconds).drop { $0 != "T" }.dropFirst().dropLast()
    return
      "\(days[Int(number % 7)]), \(UTCText.two(day.day)) \(day.monthName) \(day.year) \(clock) GMT"
  }
}

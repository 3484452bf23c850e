import HTTPTypes
import Core

/// Resumable uploads by the draft of the IETF, which URLSession of newer iOS speaks by itself: an upload is created by
/// an ordinary request (`/upload`, `/captures/…/files/…`), whose sender learns by an interim answer 104 where it can go
/// on (`/resumable/<id>`): HEAD tells the offset, PATCH appends, DELETE gives up.
///
/// The last answer is that of the ordinary request, so an app that knows nothing of all this sees what it is used to.
struct DraftRoutes {
  let uploads: ResumableUploads
  /// In front of the metadata in the record of an upload.
  private static let scheme = UploadStore.draftScheme
  static let folder = "resumable"

  /// Which request began an upload, and with it what its last answer is.
  enum Origin: String {
    case upload, file

    func answer(_ outcome: UploadOutcome) -> Answer {
      switch self {
      case .upload: UploadRoutes.uploaded(outcome)
      case .file: UploadRoutes.put(outcome)
      }
    }
  }

  // MARK: Creation

  /// Begins an upload that can be resumed; `nil` if the request does not ask for one.
  func create(
    _ request: UploadRequest, _ exchange: Exchange, _ origin: Origin
  ) async throws(AnswerError) -> Plan? {
    guard let draft = DraftFields(exchange), let isComplete = draft.isComplete else { return nil }
    guard draft.offset ?? 0 == 0 else {
      throw Self.invalid("an upload begins at 0: send the whole file", draft)
    }
    var request = request
    request.length = try length(draft, try Self.count(exchange), from: 0, isComplete: isComplete)
    request.resumableMetadata =
      Self.scheme + origin.rawValue + (request.md5.map { " \($0)" } ?? "")
    let upload: IncomingFile
    do throws(UploadRefusal) {
      upload = try await uploads.begin(request)
    } catch {
      throw AnswerError(.refusal(error))
    }
    let location = "\(exchange.target.base)/\(Self.folder)/\(upload.id)"
    let interim = HTTPResponse(
      status: .init(code: 104, reasonPhrase: "Upload Resumption Supported"),
      headerFields: draft.fields(location: location, lifetime: lifetime, most: most))
    return .read(interim: interim) { [self] body in
      let end = await uploads.receive(
        &body, into: upload, isLast: isComplete, interrupt: exchange.interrupt)
      return ended(end, upload, draft, origin, location: location)
    }
  }

  /// Bytes of the body; `nil` if they are not told. A request without a body has none.
  private static func count(_ exchange: Exchange) throws(AnswerError) -> Int64? {
    if !exchange.isChunked, exchange.fields[.contentLength] == nil { return 0 }
    return try exchange.length()
  }

  /// The length of the whole file as far as a request tells it. Throws where it contradicts itself.
  private func length(
    _ draft: DraftFields, _ count: Int64?, from offset: Int64, isComplete: Bool
  ) throws(AnswerError) -> Int64? {
    var length = draft.length
    if let count {
      let (sum, overflow) = offset.addingReportingOverflow(count)
      guard !overflow else { throw Self.invalid("the length is not clear", draft) }
      if isComplete {
        guard length ?? sum == sum else {
          throw Self.invalid(
            "the lengths contradict each other: \(length ?? 0) and \(sum) bytes", draft)
        }
        length = sum
      } else if let length, sum > length {
        throw Self.invalid("more bytes than the \(length) that were announced", draft)
      }
    }
    if let length, let most, length > most {
      throw AnswerError(
        .refusal(
          UploadRefusal(
            .tooLarge, "the file is larger than the \(ByteCount.text(most)) that are accepted")))
    }
    return length
  }

  private var lifetime: Int64 { uploads.store.limits.resumableLifetime }
  private var most: Int64? { uploads.store.limits.file }

  /// For whoever asks beforehand what is supported.
  func options(_ exchange: Exchange) -> Answer {
    let draft = DraftFields(exchange)
    var answer = Answer(status: .noContent, outcome: "options")
    if let draft { answer.fields = draft.fields(lifetime: lifetime, most: most) }
    if let name = HTTPField.Name("Accept-Patch") { answer.fields[name] = DraftFields.contentType }
    return answer
  }

  // MARK: An upload

  /// `HEAD`, `PATCH` and `DELETE /resumable/<id>`.
  func plan(_ exchange: inout Exchange, _ id: String) async throws(AnswerError) -> Plan {
    guard let draft = DraftFields(exchange) else {
      let known = DraftFields.versions.sorted().map(String.init).joined(separator: ", ")
      throw AnswerError(
        .message(
          .badRequest, "Upload-Draft-Interop-Version must be one of \(known)", outcome: "version"))
    }
    switch exchange.request.method {
    case .head: return .answer(try await head(id, exchange, draft))
    case .patch: return try await patch(id, &exchange, draft)
    case .delete:
      guard await state(id) != nil else { throw Self.unknown(draft) }
      do throws(UploadRefusal) { try await uploads.terminate(id) } catch {
        throw Self.error(error, draft)
      }
      return .answer(
        Answer(status: .noContent, fields: draft.fields(), outcome: "terminated"))
    default:
      var answer = Answer.message(
        .methodNotAllowed, "use HEAD, PATCH, DELETE", outcome: "method")
      answer.fields[.allow] = "HEAD, PATCH, DELETE"
      throw AnswerError(answer)
    }
  }

  /// What is known of an upload. A piece of it that is being received is ended: whoever asks has given up the
  /// connection over which it came, which may not have been noticed here.
  private func state(_ id: String) async -> ResumableState? {
    await uploads.interrupt(id)
    return await uploads.state(id, Self.scheme)
  }

  private func head(
    _ id: String, _ exchange: Exchange, _ draft: DraftFields
  ) async throws(AnswerError) -> Answer {
    guard draft.isComplete == nil, draft.offset == nil else {
      throw Self.invalid("the offset is asked for, not told", draft)
    }
    var answer = Answer(status: .noContent, outcome: "offset")
    if let state = await state(id) {
      answer.fields = draft.fields(
        isComplete: false, offset: state.received, length: state.expected,
        lifetime: state.expires &- uploads.store.now(), most: most)
    } else if let length = uploads.finishedLength(id) {
      answer.fields = draft.fields(isComplete: true, offset: length, length: length)
    } else {
      throw Self.unknown(draft)
    }
    answer.fields[.cacheControl] = "no-store"
    return answer
  }

  private func patch(
    _ id: String, _ exchange: inout Exchange, _ draft: DraftFields
  ) async throws(AnswerError) -> Plan {
    if draft.hasLimits, exchange.fields[.contentType] != DraftFields.contentType {
      throw AnswerError(
        .message(
          .unsupportedMediaType, "the content type must be \(DraftFields.contentType)",
          outcome: "type"))
    }
    guard let offset = draft.offset else { throw Self.invalid("Upload-Offset is missing", draft) }
    guard let isComplete = draft.isComplete ?? (draft.mustTellCompleteness ? nil : true) else {
      throw Self.invalid("Upload-Complete is missing", draft)
    }
    guard let state = await state(id) else {
      guard let length = uploads.finishedLength(id) else { throw Self.unknown(draft) }
      throw Self.conflict("the upload is complete", draft, length, isComplete: true)
    }
    (exchange.capture, exchange.name) = (state.name.capture, state.name.name)
    guard state.received == offset else {
      throw Self.conflict(
        "the upload has \(state.received) bytes, not \(offset)", draft, state.received,
        isComplete: false)
    }
    let told = try length(draft, try Self.count(exchange), from: offset, isComplete: isComplete)
    if let told, let expected = state.expected, told != expected {
      throw Self.invalid(
        "the lengths contradict each other: \(expected) and \(told) bytes", draft)
    }
    let upload: IncomingFile
    do throws(UploadRefusal) {
      upload = try await uploads.resume(id, length: state.expected == nil ? told : nil)
    } catch {
      throw Self.error(error, draft)
    }
    // Another request may have brought a piece since the question.
    guard upload.received == offset else {
      do throws(UploadRefusal) { try await uploads.suspend(upload) } catch {
        throw Self.error(error, draft)
      }
      throw Self.conflict(
        "the upload has \(upload.received) bytes, not \(offset)", draft, upload.received,
        isComplete: false)
    }
    let words = state.metadata.dropFirst(Self.scheme.count).split(separator: " ")
    let origin = words.first.flatMap { Origin(rawValue: String($0)) } ?? .upload
    let md5 = words.dropFirst().first.map(String.init)
    let interrupt = exchange.interrupt
    return .read { [self] body in
      let end = await uploads.receive(
        &body, into: upload, isLast: isComplete, md5: md5, interrupt: interrupt)
      return ended(end, upload, draft, origin, location: nil)
    }
  }

  // MARK: Answers

  private func ended(
    _ end: ResumableUploads.PieceEnd, _ upload: IncomingFile, _ draft: DraftFields,
    _ origin: Origin, location: String?
  ) -> Answer {
    var answer: Answer
    var fields: HTTPFields
    switch end {
    case .finished(let outcome):
      answer = origin.answer(outcome)
      fields = draft.fields(isComplete: true, offset: outcome.bytes, location: location)
    case .open(let offset):
      answer = .message(.created, "more is to come", outcome: "piece")
      fields = draft.fields(
        isComplete: false, offset: offset, location: location, lifetime: lifetime, most: most)
    case .wrongDigest:
      answer = .message(
        .badRequest, "the digest differs: send the file again", outcome: "wrong digest")
      fields = draft.fields(isComplete: true)
    case .refused(let refusal):
      answer = .refusal(refusal, closes: true)
      fields = draft.fields()
    case .cut(let error):
      answer = .message(
        error == .cut ? .badRequest : .requestTimeout, error.message, outcome: "cut", closes: true)
      fields = draft.fields()
    }
    for field in fields { answer.fields[field.name] = field.value }
    return answer
  }

  private static func signed(_ answer: Answer, _ fields: HTTPFields) -> AnswerError {
    var answer = answer
    for field in fields { answer.fields[field.name] = field.value }
    return AnswerError(answer)
  }

  private static func invalid(_ message: String, _ draft: DraftFields) -> AnswerError {
    signed(.message(.badRequest, message, outcome: "invalid"), draft.fields())
  }

  private static func unknown(_ draft: DraftFields) -> AnswerError {
    signed(
      .message(.notFound, "no such upload, or it has expired", outcome: "unknown"), draft.fields())
  }

  private static func conflict(
    _ message: String, _ draft: DraftFields, _ offset: Int64, isComplete: Bool
  ) -> AnswerError {
    signed(
      .message(.conflict, message, outcome: "offset"),
      draft.fields(isComplete: isComplete, offset: offset))
  }

  private static func error(_ refusal: UploadRefusal, _ draft: DraftFields) -> AnswerError {
    signed(.refusal(refusal), draft.fields())
  }
}

import HTTPTypes
import HummingbirdCore
import Core

/// One request, as far as its header tells, and what the log will say of it.
struct Exchange: Sendable {
  let request: HTTPRequest
  let target: RequestTarget
  /// The address, or the name of the token with it.
  let sender: String
  /// Ends the connection.
  let interrupt: @Sendable () -> Void
  var capture = ""
  var name = ""

  var fields: HTTPFields { request.headerFields }

  func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }

  func values(_ name: String) -> [String] { HTTPField.Name(name).map { fields[values: $0] } ?? [] }

  var userAgent: String { String((fields[.userAgent] ?? "").prefix(256)) }

  var isChunked: Bool { words(.transferEncoding).contains("chunked") }

  /// How the body is coded, apart from being sent in pieces; `nil` if it is not.
  var coding: String? {
    words(.contentEncoding).first { $0 != "identity" }
      ?? words(.transferEncoding).first { $0 != "chunked" }
  }

  /// Whether the client wants the connection to end behind the answer.
  var endsConnection: Bool { words(.connection).contains("close") }

  /// The words of a field that is a list, in lower case.
  private func words(_ name: HTTPField.Name) -> [String] {
    fields[values: name].joined(separator: ",").lowercased().split(separator: ",")
      .map { String($0.filter { $0 != " " && $0 != "\t" }) }.filter { !$0.isEmpty }
  }

  var expectsContinue: Bool {
    fields[.expect].map { $0.lowercased() == "100-continue" } ?? false
  }

  /// The announced length; `nil` for a body without one. Throws when there is neither a length nor
  /// chunks.
  func length() throws(AnswerError) -> Int64? {
    let lengths = fields[values: .contentLength]
    guard !lengths.isEmpty else {
      if isChunked { return nil }
      throw AnswerError(
        Answer.message(.lengthRequired, "the length of the file is missing", outcome: "no length"))
    }
    guard !isChunked, Set(lengths).count == 1, let length = Int64(lengths[0]), length >= 0 else {
      throw AnswerError(
        Answer.message(.badRequest, "the length of the file is not clear", outcome: "invalid"))
    }
    return length
  }
}

/// An answer in place of what was asked for.
struct AnswerError: Error {
  var answer: Answer
  init(_ answer: Answer) { self.answer = answer }
}

/// What is to be done with a request, once its header has passed all checks.
enum Plan: Sendable {
  case answer(Answer)
  /// Reads the body, after `100 Continue` where the client waits for it, and the interim answer.
  case read(interim: HTTPResponse? = nil, @Sendable (inout BodyReader) async -> Answer)
}

import Foundation
@testable import Core
import TestSupport
import Testing

@testable import Receiving

/// The requests of a sender, by every protocol, that send a file or a part of one.
extension ReceiverModel {
  func upload(_ sent: Sent, _ sender: String) throws {
    // The name tells the capture.
    guard sent.name.hasPrefix(sent.capture + ".") else { return try put(sent, sender) }
    let answer = try ask(
      sender, pick(["PUT", "POST"]), pick(["/upload", "/multiscan/upload"]),
      ["FILE_NAME: \(sent.name)"], body: sent.content)
    if answer.status == 200 { try accepted(sent, by: sender, isVerified: false) }
  }

  func put(_ sent: Sent, _ sender: String) throws {
    let told: String? = pick([nil, sent.content, sent.content, "wrong"])
    let answer = try ask(
      sender, "PUT", "/captures/\(sent.capture)/files/\(sent.name)",
      told.map { [Self.digestField($0)] } ?? [], body: sent.content)
    guard [200, 201].contains(answer.status) else { return }
    try check(told ?? sent.content == sent.content, "a wrong digest is accepted")
    try accepted(sent, by: sender, isVerified: told != nil)
  }

  /// An upload of which the last byte does not come yet.
  func begin(_ sent: Sent, _ sender: String) throws {
    guard open.count < 3, !sent.content.isEmpty else { return }
    let connection = try RawConnection(port: port)
    connection.send(
      "PUT /captures/\(sent.capture)/files/\(sent.name) HTTP/1.1\r\nHost: h\r\n"
        + "Authorization: Bearer \(Self.token(sender))\r\nContent-Length: \(sent.content.utf8.count)\r\n\r\n"
        + sent.content.dropLast())
    let store = store
    let count = open.count + 1
    Waiting.until("the begin of an upload") { (store?.snapshot().activeUploads ?? 0) >= count }
    open.append((connection, sent))
    trace.append("\(sender) begins \(sent)")
  }

  func endOpen() throws {
    guard !open.isEmpty else { return }
    let (connection, sent) = open.remove(at: Int.random(in: 0..<open.count, using: &random))
    if random.chance(3) {
      connection.end()
      let (store, count) = (store, open.count)
      Waiting.until("the end of an upload") { (store?.snapshot().activeUploads ?? 0) <= count }
      trace.append("\(sent) is cut")
    } else {
      connection.send(String(sent.content.suffix(1)))
      let answer = connection.answer()
      trace.append("\(sent) ends: \(answer?.status ?? 0) \(answer?.message ?? "")")
      // The folder of parts may have been removed.
      if let status = answer?.status, [200, 201].contains(status) {
        try check(isThere(sent, try folders()), "success, and not there: \(sent)")
      }
    }
  }

  func verify(_ sent: Sent, _ sender: String) throws {
    guard sent.name.hasPrefix(sent.capture + ".") else { return }
    let answer = try ask(
      sender, "GET", "/verify?filename=\(sent.name)&checksum=\(StoreScene.md5(sent.content))")
    guard answer.status == 200 else { return }
    try check(isThere(sent, try folders()), "verified, and not there: \(sent)")
    kept.insert(sent)
  }

  func createTus(_ sent: Sent, _ sender: String) throws {
    let hasDigest = random.chance(2)
    var metadata = "capture \(Self.base64(sent.capture)),filename \(Self.base64(sent.name))"
    if hasDigest { metadata += ",sha256 \(Self.base64(Self.sha256(sent.content)))" }
    let fields = [
      "Tus-Resumable: 1.0.0", "Upload-Length: \(sent.content.utf8.count)",
      "Upload-Metadata: \(metadata)",
    ]
    let hasBody = random.chance(3)
    let answer =
      hasBody
      ? try ask(
        sender, "POST", "/tus/", fields + ["Content-Type: application/offset+octet-stream"],
        body: String(sent.content.prefix(Int.random(in: 0...12, using: &random))))
      : try ask(sender, "POST", "/tus/", fields + (random.chance(2) ? ["Upload-Reuse: ?1"] : []))
    guard answer.status == 201, let location = answer.fields["location"] else { return }
    if answer.fields["upload-expires"] == nil {
      try accepted(sent, by: sender, isVerified: hasDigest)
    } else {
      resumable.append(Resumable(location: location, sent: sent, hasDigest: hasDigest))
    }
  }

  /// Goes on with an upload, or asks for it, or ends it.
  func goOn(_ sender: String) throws {
    guard !resumable.isEmpty else { return }
    let index = Int.random(in: 0..<resumable.count, using: &random)
    let upload = resumable[index]
    let protocolFields = ["Tus-Resumable: 1.0.0"]
    if random.chance(8) {
      if try ask(sender, "DELETE", upload.location, protocolFields).status == 204 {
        resumable.remove(at: index)
      }
      return
    }
    let state = try ask(sender, "HEAD", upload.location, protocolFields)
    guard [200, 204].contains(state.status),
      let offset = state.fields["upload-offset"].flatMap({ Int($0) })
    else {
      resumable.remove(at: index)
      return
    }
    let rest = String(upload.sent.content.utf8.dropFirst(offset)) ?? ""
    let piece = pick([rest, rest, rest, String(rest.prefix(1)), rest + "beyond"])
    var fields =
      protocolFields + [
        "Upload-Offset: \(offset + (random.chance(10) ? 1 : 0))",
        "Content-Type: application/offset+octet-stream",
      ]
    if random.chance(4) {
      let digest = MessageDigest(.md5)
      Array(pick([piece, piece, "wrong"]).utf8).withUnsafeBytes { digest.update($0) }
      let hex = Array(digest.finalizeHex().utf8)
      let bytes = stride(from: 0, to: hex.count, by: 2).compactMap {
        UInt8(String(decoding: hex[$0..<($0 + 2)], as: UTF8.self), radix: 16)
      }
      fields.append("Upload-Checksum: md5 \(Data(bytes).base64EncodedString())")
    }
    let answer = try ask(sender, "PATCH", upload.location, fields, body: piece)
    guard answer.status == 204,
      answer.fields["upload-offset"] == "\(upload.sent.content.utf8.count)"
    else { return }
    resumable.remove(at: index)
    // It was its first sender's; another one may have ended it.
    try check(isThere(upload.sent, try folders()), "success, and not there: \(upload.sent)")
    if upload.hasDigest { kept.insert(upload.sent) }
  }

  func form(_ sender: String) throws {
    let capture = pick(Self.captures)
    let files = [
      ("media_file", "\(capture).csv"), ("thumbnail", "\(capture).imu"), ("capture_info", "k.json"),
    ]
    .map {
      (field: $0.0, sent: Sent(capture: capture, name: $0.1, content: pick(["0", "1", "22"])))
    }
    let isWhole = !random.chance(4)
    let body =
      files.map { FormReaderTests.part($0.field, $0.sent.name, $0.sent.content) }.joined()
      + (isWhole ? "--\(FormReaderTests.boundary)--\r\n" : "")
    let before = try folders()
    let answer = try ask(
      sender, "POST", "/upload",
      ["Content-Type: multipart/form-data; boundary=\(FormReaderTests.boundary)"], body: body)
    let after = try folders()
    if answer.status == 200 {
      let isInOne = after.contains { folder in
        folder.capture == capture
          && files.allSatisfy { folder.files[$0.sent.name] == $0.sent.content }
      }
      try check(isInOne, "a form is accepted, and no folder has all of it")
      for file in files { try accepted(file.sent, by: sender, isVerified: false) }
    } else {
      try check(
        before.map(\.files) == after.map(\.files), "a form is refused, and a part of it is there")
    }
  }
}

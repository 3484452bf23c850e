import Captures
import Core
import FoundationEssentials
import SystemPackage
import Glibc

/// Sends one capture: every file over tus, then the word that it is complete.
struct CaptureSender {
  let client: ReceiverClient
  let capture: CaptureFiles
  let progress: SendProgress
  let retries: Int

  struct Counts {
    var sent = 0
    /// Files that the receiver had already.
    var known = 0
    var bytes: Int64 = 0
  }

  func send() throws -> Counts {
    var counts = Counts()
    var known = try knownFiles(of: capture.id)
    // Another scan may have had the id first.
    var others = known.isEmpty ? [] : ArraySlice((2...9).map { "\(capture.id)~\($0)" })
    var list: [SentFile] = []
    var stamps: [FileStamp] = []
    for file in capture.files {
      let open = try OpenedFile(file.path)
      stamps.append(open.stamp)
      let listed = SentFile(name: file.name, bytes: open.bytes, sha256: try open.sha256())
      list.append(listed)
      while !known.contains(listed), let other = others.popFirst() {
        let more = (try? knownFiles(of: other)) ?? []
        if more.isEmpty { others = [] }
        known.formUnion(more)
      }
      if known.contains(listed) { counts.known += 1 } else { try send(open, listed, &counts) }
    }
    try checkUnchanged(stamps)
    // What the receiver told of may be gone or damaged there: what it misses in the end is sent whatever it told, once.
    guard let gaps = try complete(list) else { return counts }
    let again = zip(capture.files, list).filter { gaps.names.contains($0.1.name) }
    if again.isEmpty { throw gaps.error }
    for (file, listed) in again {
      if known.contains(listed) { counts.known -= 1 } else { counts.sent -= 1 }
      let open = try OpenedFile(file.path)
      guard try open.bytes == listed.bytes && open.sha256() == listed.sha256 else {
        throw SendError.changed(file.path)
      }
      try send(open, listed, &counts)
    }
    if let gaps = try complete(list) { throw gaps.error }
    return counts
  }

  // MARK: Steps

  /// Throws where the capture holds other files by now, or a file is not what was looked at: it is not said to be
  /// complete.
  private func checkUnchanged(_ stamps: [FileStamp]) throws {
    let now = try CaptureFiles(capture.path).files
    let added = now.first { file in !capture.files.contains { $0.name == file.name } }
    let changed = zip(capture.files, stamps).first { file, stamp in
      FileStamp(of: file.path).map {
        $0.bytes != stamp.bytes || $0.modifiedNanoseconds != stamp.modifiedNanoseconds
      } ?? true
    }
    if let path = added?.path ?? changed?.0.path { throw SendError.changed(path) }
  }

  /// What the receiver has in the folder of that name.
  private func knownFiles(of id: String) throws -> Set<SentFile> {
    let reply = try persistent {
      client.run("GET", "/captures/\(PageAddress.encoded(Array(id.utf8)))")
    }
    switch reply.status {
    case 404: return []
    case 200: return Set(reply.answer?.files ?? [])
    default: throw SendError.refused("the receiver answered \(reply.message)")
    }
  }

  /// Runs a request until there is an answer.
  private func persistent(_ request: () -> ReceiverClient.Reply) throws -> ReceiverClient.Reply {
    var attempt = 0
    while true {
      let reply = request()
      if reply.status != 0, reply.status != 502, reply.status != 503, reply.status != 504 {
        return reply
      }
      attempt += 1
      guard attempt <= retries else {
        throw SendError.unreachable(
          "the receiver does not answer (\(reply.message)); what has arrived is kept")
      }
      pause(attempt)
    }
  }

  private func pause(_ attempt: Int) {
    usleep(UInt32(min(30_000, 250 << min(attempt - 1, 7))) * 1_000)
  }

  private func send(_ file: OpenedFile, _ listed: SentFile, _ counts: inout Counts) throws {
    try send(file, listed)
    guard file.isUnchanged else { throw SendError.changed(file.path) }
    counts.sent += 1
    counts.bytes += file.bytes
  }

  private func send(_ file: OpenedFile, _ listed: SentFile) throws {
    var attempt = 0
    var wrong = 0
    var location: String?
    var offset: Int64 = 0
    while true {
      if location == nil {
        let reply = try persistent { create(listed) }
        guard reply.status == 201, let found = reply.location else {
          throw SendError.refused(
            "\(listed.name.onOneLine): the receiver answered \(reply.message)"
              + (reply.status == 400
                ? "; give the file or the capture's folder another name, and send the capture again"
                : ""))
        }
        guard let below = client.address.below(found) else {
          throw SendError.refused(
            "\(listed.name.onOneLine): the receiver answered with the address \(found.onOneLine), which is not below "
              + "--to; nothing is sent there")
        }
        location = below
        offset = reply.offset ?? 0
        if listed.bytes == 0 { return }
      }
      guard let url = location else { continue }
      let begin = offset
      let reply = client.run(
        "PATCH", url, fields: ["Tus-Resumable: 1.0.0", "Upload-Offset: \(offset)"],
        .file(descriptor: file.descriptor, offset: offset, length: listed.bytes - offset)
      ) { sent in
        progress.show(
          "\(capture.id)/\(listed.name)", done: begin + sent, of: listed.bytes, from: begin)
      }
      switch reply.status {
      case 204:
        if reply.offset == listed.bytes { return }
        location = nil
      case 460:
        wrong += 1
        location = nil
        if wrong > 1 {
          throw SendError.refused(
            "\(listed.name.onOneLine): the digest differs at the receiver, twice")
        }
        continue
      case 0, 400, 404, 408, 409, 410, 423, 500, 502, 503, 504:
        // The received bytes count; while a broken connection still holds the upload, the sender waits.
        let state = client.run("HEAD", url, fields: ["Tus-Resumable: 1.0.0"])
        if let now = state.offset, state.status == 200 {
          if now > offset { attempt = 0 }
          offset = now
          if now == listed.bytes { return }
        } else if state.status == 404 {
          location = nil
        }
        attempt += 1
        guard attempt <= retries else {
          throw SendError(
            kind: reply.status == 0 ? .unreachable : .refused,
            message:
              "\(listed.name.onOneLine): \(reply.message); what has arrived is kept: call it again")
        }
        pause(attempt)
      default:
        throw SendError.refused("\(listed.name.onOneLine): the receiver answered \(reply.message)")
      }
    }
  }

  private func create(_ listed: SentFile) -> ReceiverClient.Reply {
    func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
    let metadata = [
      "capture \(base64(capture.id))", "filename \(base64(listed.name))",
      "sha256 \(base64(listed.sha256))",
    ].joined(separator: ",")
    return client.run(
      "POST", "/tus/",
      fields: [
        "Tus-Resumable: 1.0.0", "Upload-Length: \(listed.bytes)", "Upload-Metadata: \(metadata)",
        "Upload-Reuse: ?1", "Content-Length: 0",
      ])
  }

  /// Says that the capture is complete. Returns what the receiver misses of the list, or has with other content; `nil`
  /// if it agrees.
  private func complete(
    _ list: [SentFile]
  ) throws -> (names: Set<String>, error: SendError)? {
    let body = try JSONText.canonical(["files": list])
    let reply = try persistent {
      client.run(
        "POST", "/captures/\(PageAddress.encoded(Array(capture.id.utf8)))/complete",
        fields: ["Content-Type: application/json"], .bytes(body))
    }
    if reply.status == 200 { return nil }
    let answer = reply.answer
    let names = [("missing", answer?.missing ?? []), ("different", answer?.different ?? [])]
    let words = names.filter { !$0.1.isEmpty }.map { word, names in
      "\(word): \(names.prefix(8).joined(separator: " ").onOneLine)"
    }
    return (
      Set(names.flatMap(\.1)),
      .refused(([reply.message] + words).joined(separator: "; "))
    )
  }
}

/// A file of a capture as sender and receiver list it.
struct SentFile: Codable, Hashable {
  var name: String
  var bytes: Int64
  var sha256: String
}

/// A file that is sent, held open, so that what is sent is what was digested.
final class OpenedFile {
  let path: FilePath
  let descriptor: Int32
  let stamp: FileStamp
  var bytes: Int64 { stamp.bytes }

  init(_ path: FilePath) throws {
    self.path = path
    let opened = path.withPlatformString {
      open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    }
    guard opened >= 0 else {
      throw SendError.unreadable(
        "\(FileError(Errno(rawValue: errno), path: path, operation: "open"))")
    }
    descriptor = opened
    let status: FileStatus
    do throws(Errno) {
      status = try FileStatus(FileDescriptor(rawValue: opened))
    } catch {
      close(opened)
      throw SendError.unreadable("\(FileError(error, path: path, operation: "look at"))")
    }
    guard let stamp = status.fileStamp else {
      close(opened)
      throw SendError.unreadable("\(path.shown): not a file")
    }
    self.stamp = stamp
  }

  deinit { close(descriptor) }

  var isUnchanged: Bool {
    guard let now = try? FileStatus(FileDescriptor(rawValue: descriptor)) else { return false }
    return now.bytes == bytes && now.modifiedNanoseconds == stamp.modifiedNanoseconds
  }

  /// Cost: reads the file once.
  func sha256() throws -> String {
    let digest = MessageDigest(.sha256)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while true {
      let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
      guard count >= 0 else {
        throw SendError.unreadable(
          "\(FileError(Errno(rawValue: errno), path: path, operation: "read"))")
      }
      if count == 0 { return digest.finalizeHex() }
      digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
    }
  }
}

/// A capture on this machine, as it is sent: its id, and its files with at most one folder in front.
struct CaptureFiles {
  let path: FilePath
  let id: String
  /// By the names that the receiver will give them.
  let files: [(name: String, path: FilePath)]

  /// Throws a `SendError` if there is no capture, or a part of it cannot be looked at.
  init(_ path: FilePath) throws {
    do {
      try self.init(at: path)
    } catch let error as FileError {
      throw SendError.unreadable("\(error)")
    }
  }

  private init(at path: FilePath) throws {
    guard let name = path.lexicallyNormalized().lastComponent.map({ PathText.shown($0.string) }),
      name != ".", name != ".."
    else { throw SendError.unreadable("name the folder of the capture") }
    self.path = path
    if try Self.kind(of: path) == .folder {
      id = name
      files = try Self.files(in: try HeldFolder.following(path), prefix: "", path: path)
        .sorted { $0.name < $1.name }
    } else {
      let captures = CaptureFinder(.builtIn).find(path).captures
      if let whole = captures.first(where: { !$0.isFile }) {
        throw SendError.unreadable(
          "it is one file of the capture \(whole.id.onOneLine): name \(whole.folder.shown)"
        )
      }
      id = String(name.prefix { $0 != "." })
      files = [(name, path)]
    }
    if files.isEmpty { throw SendError.unreadable("there is no file in it") }
  }

  private static func kind(of path: FilePath) throws -> FileStatus.Kind {
    do throws(Errno) {
      return try FileStatus(of: path).kind
    } catch {
      if error == .noSuchFileOrDirectory {
        throw SendError.unreadable("no such file or folder")
      }
      throw FileError(error, path: path, operation: "look at")
    }
  }

  private static func files(
    in folder: HeldFolder, prefix: String, path: FilePath
  ) throws -> [(name: String, path: FilePath)] {
    var found: [(name: String, path: FilePath)] = []
    for (name, listed) in try folder.list() {
      if let target = CloudPlaceholder.target(of: name) {
        throw SendError.unreadable(
          "\(path.appending(name: name).shown): the placeholder of a cloud drive; \(PathText.shown(target)) was not "
            + "downloaded: download it first")
      }
      if IgnoredFiles.contains(name) { continue }
      let place = path.appending(name: name)
      // Where a folder does not tell kinds, one that could not be looked at is listed as other.
      let kind = listed == .other ? try folder.entry(name)?.kind : listed
      if name.hasPrefix(".") {
        if kind == .folder { continue }
        throw SendError.unreadable(
          "\(place.shown): files whose names begin with a dot are not sent, and a transfer that is not over writes such "
            + "ones: wait for it, or move the file away")
      }
      switch kind {
      case .file: found.append((prefix + name, place))
      case .folder:
        guard prefix.isEmpty else {
          throw SendError.unreadable(
            "\(place.shown): the receiver takes one level of folders, not more")
        }
        guard let inner = try folder.folder(name) else {
          throw SendError.unreadable("\(place.shown) was removed while it was looked at")
        }
        found += try files(in: inner, prefix: name + "/", path: place)
      case .link:
        throw SendError.unreadable("\(place.shown): links are not sent; copy the file")
      case .other:
        throw SendError.unreadable("\(place.shown): neither a file nor a folder: move it away")
      case nil: throw SendError.changed(place)
      }
    }
    return found
  }
}

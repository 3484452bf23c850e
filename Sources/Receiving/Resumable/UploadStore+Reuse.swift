import Captures
import Core
import Synchronization

extension UploadStore {
  /// In front of the metadata of uploads that were begun by the draft of the IETF, behind the back of their app.
  static let draftScheme = "draft "

  /// Removes uploads of a file that were broken off and are not needed, because the file has come in another way: its
  /// capture must not wait for an old part. Those of the same sender go, and those that an app's system has begun behind
  /// its back, from whatever address.
  func removeSuperseded(_ name: UploadName, by sender: String) {
    removeSuspended(by: sender) {
      NameKey($0.capture) == NameKey(name.capture) && NameKey($0.name) == NameKey(name.name)
    }
  }

  /// Removes superseded uploads of all files that a folder has.
  func removeSuperseded(in folder: StoredFolder, by sender: String) {
    removeSuspended(by: sender) {
      NameKey($0.capture) == NameKey(folder.manifest.capture) && folder.index(of: $0.name) != nil
    }
  }

  private func removeSuspended(by sender: String, where isMeant: (UploadName) -> Bool) {
    let identity = UploadSession.Key.identity(of: sender)
    let ids = state.withLock { state in
      let ids = state.suspended.filter { _, upload in
        isMeant(upload.name)
          && (UploadSession.Key.identity(of: upload.record.sender) == identity
            || upload.record.resumable?.metadata.hasPrefix(Self.draftScheme) == true)
      }.map(\.key)
      for id in ids { state.suspended[id] = nil }
      return ids
    }
    for id in ids { removePart(id) }
  }

  /// An upload of this very file that was broken off and can be resumed, and how much of it there is.
  func suspended(
    _ name: UploadName, length: Int64?, sha256: String
  ) -> (id: String, offset: Int64)? {
    state.withLock { state in
      state.suspended.filter { _, upload in
        upload.name == name && upload.record.expected == length
          && upload.record.resumable?.sha256 == sha256
      }.max { ($0.value.bytes, $0.key) < ($1.value.bytes, $1.key) }.map {
        (id: $0.key, offset: $0.value.bytes)
      }
    }
  }
}

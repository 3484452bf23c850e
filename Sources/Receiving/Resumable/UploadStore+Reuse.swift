import Captures
import Storage
import Synchronization

extension UploadStore {
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

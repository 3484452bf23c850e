import Captures

/// How far an upload has come that is not over.
public struct UploadProgress: Hashable, Sendable, Codable {
  /// Size of all files that are there, the temporary one included.
  public var bytes: Int64
  /// The transfer's temporary file, relative to the capture's folder; `nil`: an upload server says that more is on
  /// its way.
  public var temporaryFile: String?

  public init(bytes: Int64, temporaryFile: String?) {
    self.bytes = bytes
    self.temporaryFile = temporaryFile
  }

  /// Whether the temporary file is the placeholder of a cloud drive.
  var isInCloud: Bool {
    guard let name = temporaryFile?.split(separator: "/").last else { return false }
    return CloudPlaceholder.target(of: String(name)) != nil
  }

  /// `12 bytes are there, a.h264.part is not whole`, without the time.
  public func words(size: (Int64) -> String) -> String {
    let what =
      temporaryFile.map { file in
        isInCloud
          ? "\(file) is the placeholder of a file that a cloud drive has not downloaded"
          : "the temporary file \(file) of its transfer is left"
      }
      ?? "its upload server waits for more"
    return "no new byte has come; \(size(bytes)) are there, and \(what)"
  }
}

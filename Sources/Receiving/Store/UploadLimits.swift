import Captures

/// What a store accepts. Sizes in bytes; `nil` is no limit.
public struct UploadLimits: Sendable {
  public var file: Int64? = 64 << 30
  public var capture: Int64? = 256 << 30
  /// Bytes of the entries of a capture's files in its manifest, some 140,000 files; the rest of a manifest has a
  /// mebibyte. A larger manifest is read by nothing (`UploadManifest.mostBytes`).
  public var entries = Int64(UploadManifest.mostBytes) - (1 << 20)
  /// Bytes of everything in STAGING that was received; `nil`: no limit.
  public var quota: Int64?
  /// Space of the disk that stays free.
  public var reserve: Int64 = 1 << 30
  /// Accepted endings in lower case, without the dot.
  public var endings = UploadLimits.knownEndings
  /// After so many bytes data is written to disk while more is received.
  var syncEvery: Int64 = 64 << 20
  /// For how many seconds at least files of a large capture are noted in its journal before its manifest is written.
  var journalSeconds = 2.0
  /// Bytes of what an upload has announced and not sent that are kept free for it.
  var ahead: Int64 = 64 << 20
  /// How many uploads that can be resumed one sender may have begun and left.
  var suspended = 256
  /// How long an upload that can be resumed is kept, in nanoseconds.
  var resumableLifetime: Int64 = 7 * 86_400 * 1_000_000_000

  public init() {}

  /// Names without an ending that an app writes.
  static let namesWithoutEnding: Set<String> = ["metadata"]

  /// The last parts of the names of files that the apps write.
  public static let knownEndings: Set<String> = [
    "acce", "atti", "bin", "cam", "camera", "conf", "csv", "depth", "exr", "grav", "h264", "glb",
    "heic",
    "imu", "jpeg", "jpg", "json", "jsonl", "lut", "m4a", "m4v", "mag", "mov", "mp4", "npy",
    "obj", "plist", "ply", "png", "pose", "r3d", "rot", "sens", "txt", "usdz", "xml", "yaml", "yml",
    "zip", "zlib",
  ]
}

import Core
import SystemPackage

/// The files of a capture's folder by role. Listed, not opened.
struct ThreeDScannerAppFiles: Sendable {
  static let infoName = "info.json"
  /// Digits of the shortest number.
  private static let leastDigits = 5
  /// Numbers for each file: color exists for every sixth frame, and a part of the files may be lost.
  private static let numbersPerFile = 10

  /// The kinds of files with a number.
  enum Kind: CaseIterable {
    case frame, color, depth, confidence

    private var prefix: String {
      switch self {
      case .frame, .color: "frame_"
      case .depth: "depth_"
      case .confidence: "conf_"
      }
    }

    private var endings: [String] {
      switch self {
      case .frame: ["json"]
      case .color: ["jpg", "jpeg"]
      case .depth, .confidence: ["png"]
      }
    }

    private var parts: Set<CapturePart> {
      switch self {
      case .frame: [.poses, .intrinsics, .frames, .cameraSettings, .geo]
      case .color: [.color]
      case .depth: [.depth]
      case .confidence: [.confidence]
      }
    }

    func files(of names: some Sequence<String>) -> NumberedFiles {
      NumberedFiles(
        names, prefix: prefix, endings: endings, leastDigits: ThreeDScannerAppFiles.leastDigits)
    }

    /// Names of this kind, in their order. Cost: a binary search, unless one asks for them all.
    func names(in listing: FolderListing) -> some Sequence<String> & Collection<String> {
      listing.files(withPrefix: prefix).lazy.filter { !files(of: [$0]).isEmpty }
    }

    /// The name of a frame's file.
    func name(_ frame: Int) -> String {
      let digits = String(frame)
      let zeros = String(
        repeating: "0", count: max(0, ThreeDScannerAppFiles.leastDigits - digits.count))
      return prefix + zeros + digits + "." + endings[0]
    }

    /// One of many files: another frame's replaces it where only the kind counts.
    fileprivate var role: FileRole { FileRole(parts, isAlternative: true) }
  }

  let folder: FilePath
  let hasInfo: Bool
  private var numbered: [Kind: NumberedFiles] = [:]
  /// Number of pictures and tables that are links out of the capture, by kind; not followed.
  private(set) var outside: [Kind: Int] = [:]
  let isInfoOutside: Bool

  init(_ folder: FilePath) throws(CaptureError) {
    self.folder = folder
    let listing = try CaptureError.listing(folder)
    hasInfo = listing.contains(Self.infoName)
    isInfoOutside = listing.outside.contains(Self.infoName)
    for kind in Kind.allCases {
      numbered[kind] = kind.files(of: listing.files)
      outside[kind] = kind.files(of: listing.outside).files.count
    }
    let count = numbered.values.reduce(0) { $0 + $1.files.count }
    let most = FrameNumberLimit.of(records: count, factor: Self.numbersPerFile)
    numbered = numbered.mapValues { $0.believing(upTo: most) }
  }

  subscript(kind: Kind) -> NumberedFiles { numbered[kind] ?? .none }

  func path(_ name: String) -> FilePath { folder.appending(name: name) }
  func paths(_ kind: Kind) -> [FilePath] { self[kind].files.map { path($0.name) } }

  /// The greatest number of any file; -1 without files.
  var greatest: Int { numbered.values.compactMap { $0.files.last?.number }.max() ?? -1 }

  /// Confidence without depth is a `lidar` capture that lost its depth.
  var generation: ThreeDScannerAppGeneration {
    self[.depth].files.isEmpty && self[.confidence].files.isEmpty ? .highResolution : .lidar
  }

  static func role(of name: String) -> FileRole? {
    if name == infoName { return FileRole([.geo], isAlternative: true) }
    return Kind.allCases.first { !$0.files(of: [name]).isEmpty }?.role
  }
}

import Core
import FoundationEssentials
import SystemPackage

/// The folders of a capture, or its one file, while it is written. They are moved to their final place at the end, so
/// that an interrupted command leaves no partial capture.
struct CaptureFolder {
  /// Where the capture and its truth are written. The capture's folder is there; a file is not.
  let capture: FilePath
  let truth: FilePath
  private let staging: FilePath
  private let place: FilePath
  private let truthPlace: FilePath

  /// Creates `output` and an empty staging folder in it. Throws if the capture exists and may not
  /// be replaced.
  ///
  /// - Parameter ending: of a capture that is one file, without dot.
  init(
    output: FilePath, id: String, ending: String? = nil, mayReplace: Bool
  ) throws(FileError) {
    place = output.appending(ending.map { "\(id).\($0)" } ?? id)
    truthPlace = output.appending("\(id).truth")
    for path in [place, truthPlace] where FileSystem.exists(path) && !mayReplace {
      throw FileError(
        kind: .permission, path: path, operation: "synthesize", reason: "is already there",
        remedy: "choose another --output or --id, or give --replace")
    }
    staging = output.appending(".synthesize-\(id)")
    try FileSystem.remove(staging)
    capture = staging.appending("capture")
    truth = staging.appending("truth")
    if ending == nil { try FileSystem.makeFolder(capture) }
    try FileSystem.makeFolder(truth)
  }

  /// Moves both folders to their final place.
  func publish() throws(FileError) -> (capture: FilePath, truth: FilePath) {
    try FileSystem.remove(place)
    try FileSystem.remove(truthPlace)
    try FileSystem.rename(capture, to: place)
    try FileSystem.rename(truth, to: truthPlace)
    try FileSystem.remove(staging)
    return (place, truthPlace)
  }

  /// Removes what was written so far.
  func discard() {
    try? FileSystem.remove(staging)
  }
}

extension JSONObject {
  /// UTF-8, with members sorted by name.
  func bytes(pretty: Bool = false, escapingSlashes: Bool = false) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
    if !escapingSlashes { encoder.outputFormatting.insert(.withoutEscapingSlashes) }
    return Array(try encoder.encode(self))
  }
}

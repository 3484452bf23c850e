import Captures

/// Which pictures of a capture were picked, as `capture.json` states it.
package struct PickedPictures: Codable, Hashable, Sendable {
  /// `color.pick`: `sharpest` or `motion`.
  var pick: String
  /// Number of pictures that were picked…
  var picked: Int
  /// … of so many that could have been.
  package var of: Int
  /// By what groups were told apart, in words.
  var means: String
}

extension ArtifactRecord {
  /// What was picked; `nil` for a stage that does not decode color, and where every picture was written.
  var pickedPictures: PickedPictures? {
    guard uses == "decode-color", case .object(let picked)? = recorded["picked"],
      case .array(let frames)? = picked["frames"], case .integer(let of)? = picked["of"],
      case .string(let means)? = picked["means"], case .string(let pick)? = parameters["pick"]
    else { return nil }
    return PickedPictures(
      pick: pick, picked: frames.count, of: Int(clamping: of), means: means)
  }
}

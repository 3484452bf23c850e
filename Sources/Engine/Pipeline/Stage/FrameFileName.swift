import Core

/// File names of pictures and point clouds: the canonical frame index with at least six digits, and
/// an extension. All such names are made and parsed here.
package enum FrameFileName {
  /// `000042.png`.
  package static func name(_ frame: Int, _ ending: String = "png") -> String {
    stem(frame) + "." + ending
  }

  /// `000042`: the name of a frame that may have no file.
  package static func stem(_ frame: Int) -> String {
    frame.padded(6)
  }

  /// The index in a picture's file name; `nil` for other names.
  package static func frame(_ name: String) -> Int? {
    guard let dot = name.firstIndex(of: ".") else { return nil }
    let stem = name[..<dot]
    return stem.utf8.allSatisfy(\.isDigit)
      ? Int(stem) : nil
  }

  /// The pictures in an artifact, by frame: PNG or JPEG.
  package static func pictures(in record: ArtifactRecord) -> [Int: OutputEntry] {
    record.outputs.reduce(into: [:]) { pictures, output in
      guard output.path.hasSuffix(".png") || output.path.hasSuffix(".jpg"),
        let frame = frame(output.path)
      else { return }
      pictures[frame] = output
    }
  }
}

import Storage

/// File names of pictures and point clouds by frame: the canonical index, at least six digits, and an ending. The one
/// place that makes them and reads them back.
package enum FrameFileName {
  /// `000042.png`.
  package static func name(_ frame: Int, _ ending: String = "png") -> String {
    stem(frame) + "." + ending
  }

  /// `000042`: what names a frame where there may be no file of it.
  package static func stem(_ frame: Int) -> String {
    let digits = String(frame)
    return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
  }

  /// The index in a picture's file name, or `nil` when it is no picture.
  package static func frame(_ name: String) -> Int? {
    guard let dot = name.firstIndex(of: ".") else { return nil }
    let stem = name[..<dot]
    return stem.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      ? Int(stem) : nil
  }

  /// The pictures that an artifact holds, by frame: PNG or JPEG, whatever its stage was told to write.
  package static func pictures(in record: ArtifactRecord) -> [Int: OutputEntry] {
    record.outputs.reduce(into: [:]) { pictures, output in
      guard output.path.hasSuffix(".png") || output.path.hasSuffix(".jpg"),
        let frame = frame(output.path)
      else { return }
      pictures[frame] = output
    }
  }
}

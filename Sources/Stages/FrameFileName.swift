/// File names of pictures: the canonical index, at least six digits.
package enum FrameFileName {
  /// `000042.png`.
  package static func name(_ frame: Int, _ ending: String = "png") -> String {
    let digits = String(frame)
    return String(repeating: "0", count: max(0, 6 - digits.count)) + digits + "." + ending
  }

  /// The index in a picture's file name, or `nil` when it is no picture.
  package static func frame(_ name: String) -> Int? {
    guard let dot = name.firstIndex(of: ".") else { return nil }
    let stem = name[..<dot]
    return stem.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      ? Int(stem) : nil
  }
}

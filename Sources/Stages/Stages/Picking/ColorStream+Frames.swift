import Captures
import Media

extension ColorStream {
  /// The canonical frame of a picture; for a picture that was not counted, its number.
  func frame(ofPicture index: Int) -> Int {
    guard let frameOfPicture, frameOfPicture.indices.contains(index) else { return index }
    return frameOfPicture[index]
  }

  /// The upright size of its pictures; `nil` if it is not known.
  var uprightSize: (width: Int, height: Int)? {
    description.width.flatMap { width in description.height.map { (width, $0) } }
  }

  /// The frames of the pictures that were counted, in the order of the pictures.
  var countedFrames: [Int] {
    let count =
      switch source {
      case .video: order?.count ?? description.frames ?? 0
      case .stills(let files): files.count
      case .pictures(let pictures): pictures.count
      }
    guard let frameOfPicture else { return Array(0..<max(0, count)) }
    return Array(frameOfPicture.prefix(max(0, count)))
  }
}

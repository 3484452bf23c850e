import Core

/// Pictures like those of a handheld scanner, made without files.
enum Pictures {
  static let width = 1296
  static let height = 968

  /// Slopes, edges and sensor noise with a standard deviation of two steps; `shift` moves the scene.
  static func color(shift: Int = 0) -> ColorImage {
    var noise = Noise(seed: UInt64(shift) + 1)
    var rgb = [UInt8](repeating: 0, count: width * height * 3)
    for y in 0..<height {
      for x in 0..<width {
        let u = x + shift
        let patch = (u / 90 + y / 70) % 3
        let texture = (u * 7 ^ y * 5) & 31
        let luma = 60 + patch * 40 + u / 24 + y / 20 + texture / 4 + noise.wide() / 74
        let place = (y * width + x) * 3
        rgb[place] = UInt8(clamping: luma + patch * 9)
        rgb[place + 1] = UInt8(clamping: luma)
        rgb[place + 2] = UInt8(clamping: luma - patch * 7)
      }
    }
    return ColorImage(width: width, height: height, rgb: rgb)
  }

  /// What conversion from video gives: chroma that is the same for two rows and columns.
  static func video(shift: Int = 0) -> ColorImage {
    sharingChroma(color(shift: shift))
  }

  /// A frame of a moving camera: the mean of six neighbors in each row before conversion.
  static func streakedVideo() -> ColorImage {
    let sharp = color()
    var image = sharp
    for y in 0..<height {
      for x in 0..<width {
        let place = (y * width + x) * 3
        for channel in 0..<3 {
          var sum = 0
          for neighbor in x..<x + 6 {
            sum += Int(sharp.rgb[(y * width + min(neighbor, width - 1)) * 3 + channel])
          }
          image.rgb[place + channel] = UInt8(sum / 6)
        }
      }
    }
    return sharingChroma(image)
  }

  private static func sharingChroma(_ picture: ColorImage) -> ColorImage {
    var image = picture
    for y in stride(from: 0, to: height, by: 2) {
      for x in stride(from: 0, to: width, by: 2) {
        let first = (y * width + x) * 3
        let red = Int(image.rgb[first]) - Int(image.rgb[first + 1])
        let blue = Int(image.rgb[first + 2]) - Int(image.rgb[first + 1])
        for place in [first, first + 3, first + width * 3, first + width * 3 + 3] {
          let green = Int(image.rgb[place + 1])
          image.rgb[place] = UInt8(clamping: green + red)
          image.rgb[place + 2] = UInt8(clamping: green + blue)
        }
      }
    }
    return image
  }

  /// Walls and boxes seen by a depth sensor, millimeters, with holes; values lie on the steps of a shift
  /// sensor.
  static func depth(width: Int = 640, height: Int = 480) -> DepthImage {
    var noise = Noise(seed: 3)
    var millimeters = [UInt16](repeating: 0, count: width * height)
    for y in 0..<height {
      for x in 0..<width {
        let box = (x / 110 + y / 90) % 4 == 0 ? 700 : 0
        let value = 1400 + x + y / 2 - box + noise.wide() / 60
        let step = max(1, value * value / 900_000)
        let isHole = (x / 13 ^ y / 11) % 37 == 0
        millimeters[y * width + x] = isHole ? 0 : UInt16(clamping: value / step * step)
      }
    }
    return DepthImage(width: width, height: height, millimeters: millimeters)
  }

  /// Each value as a square of pixels, in planes between the values: aligned depth of a coarse sensor.
  static func enlarged(_ image: DepthImage, times: Int) -> DepthImage {
    var target = DepthImage(width: image.width * times, height: image.height * times)
    func value(_ x: Int, _ y: Int) -> Int {
      Int(image.millimeters[min(y, image.height - 1) * image.width + min(x, image.width - 1)])
    }
    for y in 0..<target.height {
      let (j, down) = (y / times, y % times)
      for x in 0..<target.width {
        let (i, right) = (x / times, x % times)
        let upper = value(i, j) * (times - right) + value(i + 1, j) * right
        let lower = value(i, j + 1) * (times - right) + value(i + 1, j + 1) * right
        target.millimeters[y * target.width + x] = UInt16(
          (upper * (times - down) + lower * down) / (times * times))
      }
    }
    return target
  }
}

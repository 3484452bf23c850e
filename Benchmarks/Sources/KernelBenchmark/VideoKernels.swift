import Media
import Core
import SystemPackage
import Glibc

/// Decoding and conversion to RGB.
enum VideoKernels {
  static let all: [Kernel] = [
    conversion("convert-ffmpeg", .ffmpeg), conversion("convert-accurate", .accurate),
    Kernel(name: "decode", about: "opens and decodes a bare H.264 stream of 8 frames, 1296x968") {
      let file = try stream(frames: 8)
      return {
        let decoder = try VideoDecoder(file, container: .annexB)
        var pictures = 0
        while try decoder.next() != nil { pictures += 1 }
        return pictures
      }
    },
  ]

  private static func conversion(_ name: String, _ conversion: ColorConversion) -> Kernel {
    Kernel(name: name, about: "\(conversion.rawValue) conversion of a frame to RGB, 1296x968") {
      let decoder = try VideoDecoder(try stream(frames: 1), container: .annexB)
      guard let picture = try decoder.next() else { throw KernelError(what: "no picture") }
      var converter = ColorConverter(conversion: conversion)
      var rgb: [UInt8] = []
      return {
        try converter.convert(picture, into: &rgb)
        return rgb.count
      }
    }
  }

  /// A video in the folder for temporary files; removed when the program ends.
  private static func stream(frames: Int) throws -> FilePath {
    let file = FilePath("/tmp/scanmill-kernels-\(getpid())-\(frames).h264")
    var settings = VideoEncoderSettings(
      width: Pictures.width, height: Pictures.height, container: .annexB)
    settings.crf = 18
    let encoder = try VideoEncoder(file, settings)
    for frame in 0..<frames {
      try encoder.append(Pictures.color(shift: frame * 3), ticks: Int64(frame * 20))
    }
    try encoder.finish()
    Leftovers.add(file)
    return file
  }
}

/// A kernel that cannot be prepared.
struct KernelError: Error, CustomStringConvertible {
  var what: String
  var description: String { what }
}

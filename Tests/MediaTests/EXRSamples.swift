@testable import Media
import TestSupport

/// An OpenEXR file in the making.
struct EXRSample {
  /// Name and kind (0 integer, 1 half, 2 float), in the order of the header.
  var channels: [(name: String, kind: Int)] = [("R", 1)]
  var width = 5
  var height = 37
  var compression = 3
  var firstLine = 0
  var firstColumn = 0
  var isDecreasing = false
  var version = 2
  /// Whether blocks that shrink are stored as they are nonetheless.
  var storesRaw = false
  var hasWrongTable = false
  var sampling = 1
  var attributes: [(name: String, type: String, value: [UInt8])] = []
  /// The value of a channel at a place.
  var value: (_ channel: String, _ column: Int, _ row: Int) -> Float = { channel, column, row in
    channel == "R" ? Float(column + row) / 4 : -1
  }

  private func number(_ value: Int, _ bytes: Int = 4) -> [UInt8] { ScratchZIP.number(value, bytes) }
  private func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

  private func attribute(_ name: String, _ type: String, _ value: [UInt8]) -> [UInt8] {
    text(name) + text(type) + number(value.count) + value
  }

  func make() throws -> [UInt8] {
    let lines = compression == 3 ? 16 : 1
    var bytes: [UInt8] = [0x76, 0x2F, 0x31, 0x01] + number(version)
    var list: [UInt8] = []
    for channel in channels {
      list += text(channel.name) + number(channel.kind) + number(0)
      list += number(sampling) + number(sampling)
    }
    list.append(0)
    bytes += attribute("channels", "chlist", list)
    bytes += attribute("compression", "compression", [UInt8(compression)])
    let window =
      number(firstColumn) + number(firstLine) + number(firstColumn + width - 1)
      + number(firstLine + height - 1)
    bytes += attribute("dataWindow", "box2i", window)
    bytes += attribute("displayWindow", "box2i", window)
    bytes += attribute("lineOrder", "lineOrder", [isDecreasing ? 1 : 0])
    for other in attributes { bytes += attribute(other.name, other.type, other.value) }
    bytes += [0]
    let tableStart = bytes.count
    let starts = Array(stride(from: 0, to: height, by: lines))
    bytes += [UInt8](repeating: 0, count: 8 * starts.count)
    for first in isDecreasing ? starts.reversed() : starts {
      var raw: [UInt8] = []
      for row in first..<min(first + lines, height) {
        for channel in channels.sorted(by: { $0.name < $1.name }) {
          for column in 0..<width {
            let value = value(channel.name, column, row)
            raw +=
              channel.kind == 1
              ? number(Int(Float16(value).bitPattern), 2) : number(Int(value.bitPattern))
          }
        }
      }
      let packed = try pack(raw)
      let offset = number(hasWrongTable ? 17 : bytes.count, 8)
      let place = tableStart + 8 * (first / lines)
      bytes.replaceSubrange(place..<place + 8, with: offset)
      bytes += number(firstLine + first) + number(packed.count) + packed
    }
    return bytes
  }

  private func pack(_ raw: [UInt8]) throws -> [UInt8] {
    if compression == 0 || storesRaw { return raw }
    var split = stride(from: 0, to: raw.count, by: 2).map { raw[$0] }
    split += stride(from: 1, to: raw.count, by: 2).map { raw[$0] }
    let steps = split.indices.map { (index: Int) -> UInt8 in
      index == 0 ? split[0] : split[index] &- split[index - 1] &+ 128
    }
    let packed =
      compression == 1
      ? runs(steps) : try DeflateEncoder.compress(steps, format: .zlib)
    return packed.count < raw.count ? packed : raw
  }

  private func runs(_ bytes: [UInt8]) -> [UInt8] {
    var packed: [UInt8] = []
    var at = 0
    while at < bytes.count {
      var end = at
      while end < bytes.count, bytes[end] == bytes[at], end - at < 128 { end += 1 }
      if end - at > 2 {
        packed += [UInt8(end - at - 1), bytes[at]]
      } else {
        end = min(at + 3, bytes.count)
        packed += [UInt8(bitPattern: Int8(at - end))] + bytes[at..<end]
      }
      at = end
    }
    return packed
  }
}

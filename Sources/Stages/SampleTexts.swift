import Captures
import Media
import Core

/// Formats inertial samples as table cells, once for all the frames that a sample belongs to.
///
/// Samples are requested roughly in order, frame after frame; about a megabyte of cells is cached.
struct SampleTexts {
  private let imu: IMUStream
  private var formatter = CSVWriter(columns: ["timestamp_ns", "sensor_type", "x", "y", "z"])
  private var bytes: [UInt8] = []
  /// The first cached sample, and for each where its cells begin, where the second cell begins, and
  /// where they end.
  private var first = 0
  private var places: [(start: Int, sensor: Int, end: Int)] = []

  private static let mostBytes = 1 << 20

  init(_ imu: IMUStream) {
    self.imu = imu
    formatter.drain { _ in }
  }

  /// The cell of the sample's time, and its other four cells.
  mutating func cells(of index: Int) -> (time: ArraySlice<UInt8>, values: ArraySlice<UInt8>) {
    let isNext = index == first + places.count
    if index < first || index > first + places.count || isNext && bytes.count > Self.mostBytes {
      first = index
      places.removeAll(keepingCapacity: true)
      bytes.removeAll(keepingCapacity: true)
    }
    if index == first + places.count { append(imu.samples[index]) }
    let place = places[index - first]
    return (bytes[place.start..<place.sensor - 1], bytes[place.sensor..<place.end])
  }

  private mutating func append(_ sample: IMUSample) {
    let start = bytes.count
    formatter.field(sample.timestamp.nanoseconds)
    let sensor = start + formatter.pendingByteCount + 1
    formatter.field(imu.sensors[sample.sensor])
    formatter.field(sample.x)
    formatter.field(sample.y)
    formatter.field(sample.z)
    let end = start + formatter.pendingByteCount
    formatter.endRow()
    formatter.drain { bytes.append(contentsOf: $0) }
    places.append((start, sensor, end))
  }
}

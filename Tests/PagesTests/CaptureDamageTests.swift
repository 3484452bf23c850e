@testable import Captures
import FoundationEssentials
@testable import Core
@testable import Processing
@testable import Engine
import TestSupport
import SystemPackage
import Testing

@testable import Pages

@Suite("Capture page of damaged artifacts")
struct CaptureDamageTests {
  private func part(_ id: String, of page: String) -> String {
    let parts = page.split(separator: "<section id=\"\(id)\"", maxSplits: 1)
    guard parts.count == 2 else { return "" }
    return String(parts[1].split(separator: "</section>", maxSplits: 1)[0])
  }

  private func bench() throws -> CaptureBench {
    let bench = try CaptureBench()
    try bench.write(CaptureBench.description, "capture.json")
    try bench.publishDepth(frames: Array(0..<12))
    try bench.publishMotion(CaptureBench.motionTable(100))
    try bench.publishTables(["frames.csv": CaptureBench.framesTable(30)])
    return bench
  }

  @Test("A table that is cut anywhere costs the rows behind the cut, and that is said")
  func cutTables() throws {
    let bench = try bench()
    let whole = Array(CaptureBench.motionTable(100).utf8)
    for count in [0, 1, 10, 31, 32, whole.count / 2, whole.count - 1] {
      try bench.write(Array(whole[..<count]), "imu/imu.csv")
      let page = try bench.page()
      #expect(part("imu", of: page).contains("class=\"notice\""), "cut at \(count)")
      #expect(!part("timing", of: page).contains("class=\"notice\""))
    }
    try bench.write(whole, "imu/imu.csv")
    #expect(!part("imu", of: try bench.page()).contains("class=\"notice\""))
  }

  @Test("Rows that are no samples are counted")
  func oddRows() throws {
    let bench = try CaptureBench()
    try bench.publishMotion(
      CaptureBench.motionTable(50)
        + "x,gyroscope,1,2,3\n,,,,\n99999999999999999999,gyroscope,1,2,3\n")
    #expect(part("imu", of: try bench.page()).contains("3 rows could not be understood"))
  }

  @Test("Times at the ends of their range do no harm")
  func extremes() throws {
    let bench = try CaptureBench()
    let times = [Int64.min, -1, 0, 1, .max]
    try bench.publishMotion(
      "timestamp_ns,sensor_type,x,y,z\n"
        + times.map { "\($0),gyroscope,1e308,-1e308,1e-308\n" }.joined())
    try bench.publishTables([
      "frames.csv": "frame,timestamp_ns\n"
        + times.map { "\(Int64.max),\($0)\n" }.joined(),
      "poses.csv": "frame,timestamp_ns,tx,ty,tz\n"
        + times.map { "\($0),\($0),1e5,-1e300,nan\n0,0,1e5,2,3\n" }.joined(),
      "geo.csv": "frame,latitude_deg,longitude_deg\n0,90,180\n0,-90,-180\n0,1e9,0\n",
    ])
    #expect(try bench.page().contains("<section id=\"imu\""))
  }

  @Test("A picture that is empty, cut or gone costs itself, and that is said")
  func pictures() throws {
    let bench = try bench()
    try bench.write([], "depth/000003.png")
    try bench.write([0x89, 0x50, 0x4E, 0x47, 1, 2, 3], "depth/000004.png")
    try FileSystem.remove(bench.layout.folder.appending("depth/000005.png"))
    let page = try bench.page()
    let depth = part("depth", of: page)
    #expect(depth.contains("3 depth pictures cannot be read"))
    #expect(depth.contains("depth/000003.png is empty"))
    let pictures = part("pictures", of: page)
    #expect(pictures.contains("3 pictures of this sheet cannot be shown"))
    #expect(pictures.matches(of: /class="no-picture"/).count == 3)
    #expect(pictures.matches(of: /<img\ /).count == 9)
  }

  @Test("Links in place of results are not followed")
  func links() throws {
    let bench = try bench()
    let file = bench.layout.folder.appending("depth/000003.png")
    try FileSystem.remove(file)
    try file.link(to: bench.layout.folder.appending("depth/000004.png").string)
    #expect(part("depth", of: try bench.page()).contains("1 depth picture cannot be read"))
  }

  @Test("A record that is not trusted is reported in the place of its part")
  func records() throws {
    let bench = try bench()
    try bench.write("{", "imu/artifact.json")
    try bench.write("", "depth/artifact.json")
    let page = try bench.page()
    #expect(part("imu", of: page).contains("artifact.json cannot be read"))
    #expect(part("depth", of: page).contains("artifact.json cannot be read"))
    #expect(part("stages", of: page).contains("damaged"))
    #expect(part("timing", of: page).contains("class=\"plot\""))
  }

  @Test("A description that is no JSON, too deep or of other kinds is treated as absent")
  func descriptions() throws {
    let bench = try bench()
    let deep = String(repeating: "[", count: 100_000)
    for text in [
      "", "{", "[]", "null", deep,
      "{\"streams\":[1],\"device\":7,\"alignment\":{\"colorFromDepth\":[1]}}",
      "{\"streams\":{\"color\":{\"frames\":1e300,\"declaredFrames\":-9223372036854775808}}}",
    ] {
      try bench.write(text, "capture.json")
      #expect(try bench.page().contains("<section id=\"imu\""))
    }
  }

  @Test(
    "Colors of depth: near is dark, what was not measured is hatched, in every phase of the pattern"
  )
  func hatching() throws {
    var picture = try depthPicture(of: 0)
    #expect(Set(stride(from: 0, to: picture.count, by: 3).map { picture[$0] }) == [120, 225])
    picture = try depthPicture(of: 1000)
    let near = PixelColor.viridis(0.5)
    #expect(Array(picture[0..<3]) == [near.red, near.green, near.blue])
    #expect(
      PixelColor.viridis(0).hex == "#440154" && PixelColor.viridis(1).hex == "#fde725"
        && PixelColor.viridis(.nan).hex == "#440154")
  }

  private func depthPicture(of value: UInt16) throws -> [UInt8] {
    let picture = ReducedDepth(
      .init(width: 32, height: 32, millimeters: Array(repeating: value, count: 1024)), width: 16,
      height: 16)
    return picture.picture(meters: 0...2).rgb
  }

  @Test("The same frames are in the same columns, at most twelve, evenly chosen, within the sizes")
  func sheet() throws {
    let bench = try CaptureBench()
    try bench.publishColor(frames: Array(0..<40), width: 400, height: 300)
    try bench.publishDepth(frames: Array(5..<40))
    try bench.publishDepth("aligned", frames: (5..<40).filter { $0 % 2 == 1 })
    let page = try bench.page()
    let columns = part("pictures", of: page).split(separator: "<li>").dropFirst()
    #expect(columns.count == 12)
    for column in columns {
      let frames = column.matches(of: /alt="frame ([0-9]+),/).map(\.output.1)
      let rows = column.matches(of: /data-row="([a-z]+)"/).map(\.output.1)
      #expect(frames.count == 3 && Set(frames).count == 1)
      #expect(rows == ["color", "depth", "aligned"])
    }
    #expect(
      columns.first?.contains(">frame 5<") == true && columns.last?.contains(">frame 39<") == true)
    #expect(
      page.matches(of: /<img [^>]*width="([0-9]+)"/).allSatisfy { Int($0.output.1) ?? 999 <= 200 })
  }

  @Test("Pictures together stay below 700 KB however rich they are")
  func pictureSizes() throws {
    let bench = try CaptureBench()
    var generator = SystemRandomNumberGenerator()
    let files = try (0..<12).map { frame -> (String, [UInt8]) in
      var image = ColorImageOf.noise(width: 200, height: 400, &generator)
      return ("\(CaptureBench.padded(frame)).png", try ColorImageOf.png(&image))
    }
    try bench.publish("color", uses: "decode-color", Dictionary(uniqueKeysWithValues: files))
    let page = try bench.page()
    let sizes = page.matches(of: /src="data:image\/jpeg;base64,([^"]*)"/).map {
      $0.output.1.utf8.count
    }
    // The first of them, and twelve spread over the capture.
    #expect(sizes.count == 13)
    #expect(sizes.reduce(0, +) <= 700_000)
    #expect(page.utf8.count <= 2_000_000)
  }
}

import Foundation
import Storage
import SyntheticCaptures
import SystemPackage
import TestSupport
import Testing

@Suite("Captures made with known truth come out as it says")
struct SyntheticFaultTests {
  static let faults = (SyntheticFamilies.faults(of: "scannet") ?? []).map(\.name)

  @Test(
    "Every fault of a ScanNet capture gives its warnings and loses no readable frame",
    arguments: [nil] + faults)
  func fault(_ fault: String?) throws {
    let folder = try TemporaryFolder()
    let made = try Program.run(
      [
        "synthesize", "scannet", "--output", folder.path.appending("in").string, "--frames", "12",
        "--seed", "3", "--width", "324", "--height", "242", "--depth-width", "160",
        "--depth-height", "120", "--id", "scan",
      ] + (fault.map { ["--fault", $0] } ?? []))
    #expect(made.status == 0, "\(made.errors)")
    let expected = try Expectation(
      file: folder.path.appending("in").appending("scan.truth").appending("expected.json"))
    let result = try Program.run([
      "run", folder.path.appending("in").appending("scan").string, "--output",
      folder.path.appending("out").string, "--json",
    ])
    #expect(result.status == expected.exitCode, "\(result.errors)")
    let capture = try expected.onlyCapture(of: result.json())
    try expected.checkWarnings(in: capture)
    let place = folder.path.appending("out").appending("scan")
    try expected.checkPictures("depth", in: place)
    try expected.checkFrameTimes(in: place)
    try expected.checkColorCount(in: place)
    try expected.checkIMU(in: place)
  }
}

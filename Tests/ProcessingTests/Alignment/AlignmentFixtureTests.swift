import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media
@testable import Processing

@Suite("Aligned depth on the fixtures", .enabled(if: Fixtures.arePresent, "no ../shared/fixtures"))
struct AlignmentFixtureTests {
  @Test(
    "The mesh agrees with the truth as far as the case requires, and no other surface does more",
    arguments: AlignmentFixture.cases)
  func truth(of folder: FixtureCase) throws {
    let fixture = try AlignmentFixture(folder)
    let require = fixture.description.require
    let truth = try fixture.picture("truth")
    let mask = try fixture.mask()
    func compared(_ picture: DepthImage) -> TruthComparison {
      TruthComparison(picture, truth: truth, mask: mask, step: fixture.quantizationStep)
    }
    let ours = compared(try fixture.aligned(.mesh))
    let reference = compared(try fixture.picture("mesh"))

    #expect(ours.within1mm >= require.interiorWithin1mm ?? 0.999)
    #expect(ours.within5mm >= require.interiorWithin5mm ?? 0.999)
    #expect(ours.coverage >= require.interiorCoverage ?? 0.999)
    #expect(ours.through <= require.throughMax ?? 0.0001)
    #expect(ours.inFront <= 0.0001)
    if let leakMax = require.leakMax { #expect(ours.leak <= leakMax) }
    if let outsideMax = require.outsideMax { #expect(ours.outside <= outsideMax) }
    #expect(ours.wrongAtEdges <= reference.wrongAtEdges + 0.02)
    // A plane that faces both cameras is exact by any method.
    for surface in AlignmentParameters.Surface.allCases where surface != .mesh {
      let other = compared(try fixture.aligned(surface))
      #expect(ours.within1mm >= other.within1mm - 0.001, "\(surface)")
    }
  }

  @Test(
    "Mesh and points agree with an independent implementation", arguments: AlignmentFixture.cases,
    [AlignmentParameters.Surface.mesh, .points])
  func reference(of folder: FixtureCase, surface: AlignmentParameters.Surface) throws {
    let fixture = try AlignmentFixture(folder)
    let require = fixture.description.require
    let ours = try fixture.aligned(surface)
    let result = PictureComparison(ours, try fixture.picture(surface.rawValue))
    #expect(result.within1mm >= require.meshEqualWithin1mm ?? 0.999)
    #expect(
      result.firstOnly + result.secondOnly <= require.meshCoverageDifference ?? 0.001)
    #expect(result.equal >= 0.95)
  }

  @Test(
    "The output grid's intrinsics follow the half-pixel rule", arguments: AlignmentFixture.cases)
  func grid(of folder: FixtureCase) throws {
    let fixture = try AlignmentFixture(folder)
    let aligner = try DepthAligner(
      calibration: fixture.calibration, parameters: fixture.parameters)
    let ours = aligner.outputIntrinsics
    let expected = fixture.description.outputGrid
    #expect(ours.width == expected.width)
    #expect(ours.height == expected.height)
    for (a, b) in [
      (ours.fx, expected.fx), (ours.fy, expected.fy), (ours.cx, expected.cx),
      (ours.cy, expected.cy),
    ] {
      #expect(abs(a - b) < 1e-9)
    }
  }

  @Test("A shared camera without depth intrinsics of its own is the same as one with")
  func registered() throws {
    let folder = try #require(AlignmentFixture.cases.first { $0.name == "shared-camera" })
    let fixture = try AlignmentFixture(folder)
    let stated = try fixture.aligned(.mesh)
    let registered = DepthCalibration(
      registered: true, colorIntrinsics: fixture.calibration.colorIntrinsics)
    let aligner = try DepthAligner(
      calibration: registered, parameters: fixture.parameters,
      depthSize: PictureSize(width: fixture.depth.width, height: fixture.depth.height))
    let found = PictureComparison(try aligner.aligned(fixture.depth), stated)
    #expect(found.within1mm == 1)
    #expect(found.firstOnly + found.secondOnly < 1e-4)
  }

  @Test("A real frame agrees with the vendor's library")
  func azureKinect() throws {
    let folder = try #require(Fixtures.cases(of: "alignment").first { $0.name == "azure-kinect" })
    let fixture = try AlignmentFixture(folder)
    let require = fixture.description.require
    let result = PictureComparison(try fixture.aligned(.mesh), try fixture.picture("reference"))
    #expect(result.within1mm >= require.within1mm ?? 1)
    #expect(result.within5mm >= require.within5mm ?? 1)
    #expect(result.within10mm >= 0.999)
    #expect(result.secondOnly <= require.referenceOnlyMax ?? 0)
    #expect(result.firstOnly <= require.oursOnlyMax ?? 0)
  }
}

/// One case of the alignment fixtures: input, what it must become, and how exactly.
struct AlignmentFixture {
  let folder: FixtureCase
  let calibration: DepthCalibration
  let parameters: AlignmentParameters
  let description: Description
  let depth: DepthImage

  static let cases = Fixtures.cases(of: "alignment").filter { $0.name != "azure-kinect" }

  init(_ folder: FixtureCase) throws {
    self.folder = folder
    calibration = try folder.json(CalibrationObject.self, from: "calibration.json").calibration
    description = try folder.json(Description.self, from: "case.json")
    let stated = description.parameters
    parameters = AlignmentParameters(
      surface: stated.surface, grid: stated.grid,
      discontinuityAbsolute: stated.discontinuityAbsolute,
      discontinuityRelative: stated.discontinuityRelative)
    depth = try Self.depth("depth", in: folder)
  }

  /// The case aligned with one of the surfaces.
  func aligned(_ surface: AlignmentParameters.Surface) throws -> DepthImage {
    var parameters = parameters
    parameters.surface = surface
    let aligner = try DepthAligner(calibration: calibration, parameters: parameters)
    return try aligner.aligned(depth)
  }

  func picture(_ name: String) throws -> DepthImage { try Self.depth(name, in: folder) }

  func mask() throws -> [UInt8] {
    try PNGReader.gray(at: folder.folder.appending("mask.png")).values
  }

  /// Step of the stored depth in millimeters at a true Z in millimeters.
  func quantizationStep(at z: Double) -> Double {
    description.depthQuantization == "shift table" ? max(1, z * z / 300_000) : 1
  }

  private static func depth(_ name: String, in folder: FixtureCase) throws -> DepthImage {
    try PNGReader.depth(at: folder.folder.appending(name + ".png"))
  }
}

extension AlignmentFixture {
  /// The part of `case.json` that is asked of an implementation.
  struct Description: Decodable {
    struct Parameters: Decodable {
      let surface: AlignmentParameters.Surface
      let grid: AlignmentParameters.Grid
      let discontinuityAbsolute: Double
      let discontinuityRelative: Double
    }
    struct Require: Decodable {
      let interiorWithin1mm: Double?
      let interiorWithin5mm: Double?
      let interiorCoverage: Double?
      let throughMax: Double?
      let leakMax: Double?
      let outsideMax: Double?
      let meshEqualWithin1mm: Double?
      let meshCoverageDifference: Double?
      let within1mm: Double?
      let within5mm: Double?
      let referenceOnlyMax: Double?
      let oursOnlyMax: Double?
    }
    let parameters: Parameters
    let outputGrid: PinholeCamera
    let depthQuantization: String?
    let require: Require
  }

  /// `calibration.json`.
  struct CalibrationObject: Decodable {
    struct Lenses: Decodable {
      let depth: [String: Double]?
      let color: [String: Double]?
    }
    let registered: Bool
    let colorFromDepth: [Double]
    let depthIntrinsics: PinholeCamera
    let colorIntrinsics: PinholeCamera
    let distortion: Lenses?

    var calibration: DepthCalibration {
      DepthCalibration(
        registered: registered, colorFromDepth: RigidTransform(rowMajor: colorFromDepth),
        depthIntrinsics: depthIntrinsics, colorIntrinsics: colorIntrinsics,
        depthDistortion: Self.lens(distortion?.depth), colorDistortion: Self.lens(distortion?.color)
      )
    }

    private static func lens(_ terms: [String: Double]?) -> LensDistortion {
      let names = ["k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"]
      return LensDistortion(openCVOrder: names.map { terms?[$0] ?? 0 })
    }
  }
}

extension DepthAligner {
  /// One frame on one thread.
  func aligned(_ depth: DepthImage) throws -> DepthImage {
    var scratch = AlignmentScratch()
    var output: [UInt16] = []
    try align(depth.millimeters, scratch: &scratch, into: &output)
    return DepthImage(
      width: outputIntrinsics.width, height: outputIntrinsics.height, millimeters: output)
  }
}

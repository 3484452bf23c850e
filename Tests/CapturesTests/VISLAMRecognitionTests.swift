@testable import Captures
import SystemPackage
import Testing

@Suite("VI-SLAM: recognition")
struct VISLAMRecognitionTests {
  private func recognize(_ files: [String: String], folder: String = "x") throws -> [Recognition] {
    let scratch = try VISLAMScratch(named: folder)
    for (name, text) in files { try scratch.write(text, to: name) }
    return VISLAMReader.recognize(try FolderListing(of: scratch.folder))
  }

  @Test(
    "The header of a table decides",
    arguments: [
      ["imu_data.csv": "timestamp_ns,sensor_type,x,y,z\n"],
      ["imu_data.csv": "# made by a recorder\ntimestamp_ns,sensor_type,x,y\n"],
      ["imu_data.csv": "timestamp,accel_x,accel_y,accel_z,gyro_x,gyro_y,gyro_z\n"],
      ["imu_data.csv": "\u{FEFF} X ; Sensor_Type ; TIMESTAMP_NS \n"],
      ["frame_metadata.csv": "frame_number,timestamp_ns,image_filename\n"],
      ["frame_metadata.csv": VISLAMTables.frameHeader, "imu_data.csv": ""],
    ])
  func certain(files: [String: String]) throws {
    let found = try recognize(files, folder: "session_2026-01-24T10:00:00Z")
    #expect(found.count == 1)
    #expect(found.first?.certainty == .certain)
    #expect(found.first?.id == "session_2026-01-24T10:00:00Z")
    #expect(found.first?.stem == nil)
    #expect(found.first?.family == .vislam)
  }

  @Test(
    "Rows of the app's own order without header may be one",
    arguments: [
      ["imu_data.csv": "1000,accelerometer,1,2,3\n"],
      ["frame_metadata.csv": "0,1000,0.0,0.0,4.25,320,180\n"],
    ])
  func possible(files: [String: String]) throws {
    #expect(try recognize(files).map(\.certainty) == [.possible])
  }

  @Test(
    "Neither names nor other tables decide",
    arguments: [
      [:], ["imu_data.csv": ""], ["imu_data.csv": "time,a,b,c\n"], ["imu_data.csv": "\0\u{1}\u{2}"],
      ["imu.csv": "timestamp,ax,ay,az,gx,gy,gz\n"], ["video.mp4": "ftyp"],
      ["imu_data.csv": "timestamp_ns,x,y,z\n"], ["frame_metadata.csv": "frame,timestamp_ns\n"],
      ["frame_metadata.csv": "frame_number,timestamp\n"],
      ["inner/imu_data.csv": "timestamp_ns,sensor_type,x,y,z\n"],
      ["imu_data.csv.bak": "timestamp_ns,sensor_type,x,y,z\n"],
    ])
  func none(files: [String: String]) throws {
    #expect(try recognize(files, folder: "session_2026-01-24T10:00:00Z").isEmpty)
  }

  @Test("A folder in place of the table is no table")
  func folderForFile() throws {
    #expect(try recognize(["imu_data.csv/inner.csv": "timestamp_ns,sensor_type,x,y,z\n"]).isEmpty)
  }
}

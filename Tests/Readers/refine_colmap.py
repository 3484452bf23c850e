#!/usr/bin/env python3
"""refine_colmap.py FOLDER: the commands of an `export-colmap`'s README that refine poses, through pycolmap (4.x).

Each command of the README has one call here; a command without one is a failure. Status 0: all images are
registered and have points, under the ids and with the intrinsics of the model.
"""

import pathlib
import shutil
import subprocess
import sys

import pycolmap


def commands(folder):
    lines = (folder / "README.txt").read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("    colmap database_creator"))
    for line in lines[start:]:
        if not line.startswith("    "):
            return
        yield line.split()


def main(folder):
    folder = pathlib.Path(folder)
    model = pycolmap.Reconstruction(folder / "sparse/0")
    database, images = folder / "database.db", folder / "images"
    for words in commands(folder):
        match words:
            case ["colmap", "database_creator", *_]:
                pycolmap.Database.open(database).close()
            case ["python3", script]:
                subprocess.run([sys.executable, str(folder / script)], check=True)
            case ["colmap", "feature_extractor", *_]:
                options = pycolmap.FeatureExtractionOptions()
                options.use_gpu = False
                options.sift.max_num_features = 1000
                pycolmap.extract_features(database, images, extraction_options=options)
            case ["colmap", "sequential_matcher", *_]:
                options = pycolmap.FeatureMatchingOptions()
                options.use_gpu = False
                pycolmap.match_sequential(database, matching_options=options)
            case ["mkdir", "-p", *folders]:
                for name in folders:
                    (folder / name).mkdir(parents=True, exist_ok=True)
            case ["colmap", "point_triangulator", *options]:
                value = dict(zip(options[::2], options[1::2]))
                assert value["--clear_points"] == "1"
                output = folder / value["--output_path"]
                found = pycolmap.triangulate_points(
                    pycolmap.Reconstruction(folder / value["--input_path"]), database, images, output, clear_points=True)
                found.write(output)
            case ["colmap", "bundle_adjuster", *options]:
                value = dict(zip(options[::2], options[1::2]))
                fixed = pycolmap.BundleAdjustmentOptions()
                fixed.refine_focal_length = value["--BundleAdjustment.refine_focal_length"] != "0"
                fixed.refine_extra_params = value["--BundleAdjustment.refine_extra_params"] != "0"
                refined = pycolmap.Reconstruction(folder / value["--input_path"])
                pycolmap.bundle_adjustment(refined, fixed)
                refined.write(folder / value["--output_path"])
            case _:
                sys.exit(f"no call for {' '.join(words)}")
    compare(model, pycolmap.Reconstruction(folder / "sparse/refined"))


def compare(model, refined):
    assert refined.num_reg_images() == model.num_reg_images(), refined.summary()
    assert refined.num_points3D() > 20, refined.summary()
    for number, image in model.images.items():
        other = refined.images[number]
        assert (other.name, other.camera_id) == (image.name, image.camera_id), image.name
        camera, same = model.cameras[image.camera_id], refined.cameras[other.camera_id]
        assert list(camera.params) == list(same.params), (camera, same)
        center, moved = image.projection_center(), other.projection_center()
        assert abs(center - moved).max() < 0.2, (image.name, center, moved)
    print(f"refined {refined.num_reg_images()} images with {refined.num_points3D()} points, "
          f"{refined.compute_mean_reprojection_error():.2f} px, pycolmap {pycolmap.__version__}")


if __name__ == "__main__":
    if sys.argv[1] == "--compare":
        compare(*(pycolmap.Reconstruction(f"{sys.argv[2]}/sparse/{name}") for name in ("0", "refined")))
    else:
        main(sys.argv[1])

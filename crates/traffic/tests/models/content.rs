//! Files written for a server.

use std::fs;
use std::path::Path;

use traffic::model::content::{ContentError, Manifest, Written, bytes_of, write};

use crate::{NAMES, named};

fn files_below(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(format!("/{}", path.strip_prefix(directory).unwrap().display()));
            }
        }
    }
    found.sort_unstable();
    found
}

#[test]
fn files_are_where_their_urls_say_and_hold_what_a_checker_expects() {
    let directory = tempfile::tempdir().unwrap();
    let model = named("webstone", 1);
    let written = write(directory.path(), &model).unwrap();
    assert_eq!(written, Written { files: 77, bytes: 13_361 * 1024, kept: 0 });
    for object in model.objects() {
        let bytes = fs::read(directory.path().join(&object.url[1..])).unwrap();
        assert_eq!(bytes.len() as u64, object.length);
        assert!(bytes_of(object).agrees(&bytes), "{}", object.url);
    }
    let mut expected: Vec<String> = model.objects().iter().map(|object| object.url.to_string()).collect();
    expected.push(Manifest::url(model.name()));
    expected.sort_unstable();
    assert_eq!(files_below(directory.path()), expected);
}

#[test]
fn the_manifest_tells_which_model_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let model = named("webstone2", 1);
    write(directory.path(), &model).unwrap();
    let text = fs::read(directory.path().join(&Manifest::url(model.name())[1..])).unwrap();
    let manifest: Manifest = serde_json::from_slice(&text).unwrap();
    assert_eq!(manifest, Manifest::of(&named("webstone2", 9)), "whatever the seed");
    for name in NAMES.into_iter().filter(|name| *name != "webstone2") {
        assert_ne!(manifest, Manifest::of(&named(name, 1)), "{name}");
    }
}

#[test]
fn writing_again_goes_on_where_it_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let model = named("webstone2", 1);
    write(directory.path(), &model).unwrap();
    let place = |name: &str| directory.path().join("webstone2").join(name);
    fs::remove_file(place("file5k.bin")).unwrap();
    fs::remove_file(place("headworks-content.json")).unwrap();
    fs::write(place("file5k.bin.partial"), "half of").unwrap();
    let before = fs::metadata(place("file5m.bin")).unwrap().modified().unwrap();
    let written = write(directory.path(), &model).unwrap();
    assert_eq!((written.files, written.kept), (5, 4));
    assert_eq!(fs::metadata(place("file5m.bin")).unwrap().modified().unwrap(), before);
    assert_eq!(files_below(directory.path()).len(), 6, "no partial file is left");
    assert_eq!(write(directory.path(), &model).unwrap().kept, 5);
}

#[test]
fn several_models_share_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), &named("webstone2", 1)).unwrap();
    write(directory.path(), &named("specweb96:1", 1)).unwrap();
    let more = write(directory.path(), &named("specweb96:2", 1)).unwrap();
    assert_eq!((more.files, more.kept), (6 * 36, 4 * 36));
    assert_eq!(write(directory.path(), &named("webstone2", 1)).unwrap().kept, 5);
}

#[test]
fn files_of_others_are_not_touched() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("webstone2");
    fs::create_dir(&folder).unwrap();
    let write = || write(directory.path(), &named("webstone2", 1)).unwrap_err();
    let right = fs::File::create(folder.join("file500.bin")).unwrap();
    right.set_len(500).unwrap();
    for contents in ["", "short", &"x".repeat(500), &"x".repeat(501)] {
        fs::write(folder.join("file500.bin"), contents).unwrap();
        let error = write();
        assert!(matches!(error, ContentError::Other { .. }), "{error}");
        assert!(error.to_string().contains("webstone2/file500.bin is there already"), "{error}");
        assert_eq!(fs::read_to_string(folder.join("file500.bin")).unwrap(), contents);
    }
    fs::remove_file(folder.join("file500.bin")).unwrap();
    fs::write(folder.join("headworks-content.json"), "{\"mine\": true}").unwrap();
    assert!(matches!(write(), ContentError::Other { .. }));
}

#[test]
fn links_do_not_lead_out_of_the_directory() {
    let (directory, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let link = directory.path().join("webstone2");
    std::os::unix::fs::symlink(outside.path(), &link).unwrap();
    let error = write(directory.path(), &named("webstone2", 1)).unwrap_err();
    assert!(matches!(&error, ContentError::Special { path } if *path == link), "{error}");
    fs::remove_file(&link).unwrap();
    fs::create_dir(&link).unwrap();
    std::os::unix::fs::symlink(outside.path().join("new"), link.join("file500.bin")).unwrap();
    let error = write(directory.path(), &named("webstone2", 1)).unwrap_err();
    assert!(matches!(error, ContentError::Special { .. }), "{error}");
    assert_eq!(files_below(outside.path()), [""; 0]);
}

#[test]
fn what_the_system_refuses_is_told_with_the_place() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let error = write(&file, &named("webstone2", 1)).unwrap_err().to_string();
    assert!(error.starts_with("cannot create ") && error.contains(file.to_str().unwrap()), "{error}");
}

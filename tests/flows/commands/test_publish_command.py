"""`facetflow publish`: a folder that loads anywhere, with terms in its card, and nothing of this machine."""

import json

import pytest
import yaml
from sentence_transformers import SentenceTransformer

from features.core.faults import Conflict, ModelUnfit, NotThisModel, OutputOverwrites, UploadFailed
from flows.command_line import run
from training.encoders.running import write_card


@pytest.fixture
def encoder(tmp_path, monkeypatch, word_encoder):
    """Go to a folder with a finished encoder, whose record names folders of this machine."""
    monkeypatch.chdir(tmp_path)
    model = SentenceTransformer(str(word_encoder), device="cpu")
    model.save_pretrained("encoder", create_model_card=False)
    folder = tmp_path / "encoder"
    training = {
        "settings": {
            "kind": "s3bert",
            "backbone": str(word_encoder),
            "layers_tuned": 0,
            "facet_dimensions": 2,
            "splits": ["train", "dev"],
        },
        "source": {"release": 3, "versions": {"pairs": 3}, "metric_files": [str(tmp_path / "encoder"), "/film/genre"]},
        "corpora": {"mine": {"train": 5, "dev": 2, "licence": "CC BY 4.0"}},
        "steps": 1,
        "seconds": 1.0,
        "precision": "float32",
        "device": "cpu",
        "best_step": 1,
        "dimension": 48,
        "backbone_digest": "0" * 64,
        "backbone_licence": "MIT",
        "data_digest": "0" * 20,
        "dev": None,
        "facets": [{"name": "smatch", "start": 46, "stop": 48}],
        "chosen_by": {"set": None},
    }
    (folder / "training.json").write_text(json.dumps(training))
    (folder / "README.md").write_text(write_card(training))
    return folder


def test_the_folder_loads_and_tells_nothing_of_this_machine(encoder, tmp_path, capsys):
    assert run(["publish", "--encoder", "./encoder", "-o", "out", "--name", "me/mine"]) == 0
    assert "Its card has no scores yet" in capsys.readouterr().err
    texts = ["a cat in the park"]
    before, after = (SentenceTransformer(name, device="cpu").encode(texts) for name in ("encoder", "out"))
    assert (before == after).all()
    told = [path.read_text() for path in (tmp_path / "out").rglob("*") if path.suffix in {".json", ".md"}]
    assert not any(str(tmp_path.parent) in text for text in told)
    assert "/film/genre" in json.loads((tmp_path / "out/training.json").read_text())["source"]["metric_files"]
    card = (tmp_path / "out/README.md").read_text()
    front = yaml.safe_load(card.split("---")[1])
    assert (front["license"], front["license_link"]) == ("other", "README.md")
    assert "base_model" not in front, "a folder of this machine is no name on the Hub"
    assert 'SentenceTransformer("me/mine")' in card
    assert "CC BY 4.0" in card


def test_an_encoder_with_routes_is_published_whole(encoder, tmp_path):
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Router"}]
    (encoder / "modules.json").write_text(json.dumps(modules))
    (encoder / "router_config.json").write_text(json.dumps({"structure": {"animal": [], "place": []}}))
    assert run(["publish", "--encoder", "./encoder", "-o", "out"]) == 0
    assert (tmp_path / "out/router_config.json").is_file()


def test_the_start_model_has_its_name_on_the_hub(encoder, tmp_path):
    text = (encoder / "training.json").read_text()
    training = json.loads(text)
    training["settings"]["backbone"] = "all-MiniLM-L6-v2"
    (encoder / "training.json").write_text(json.dumps(training))
    assert run(["publish", "--encoder", "./encoder", "-o", "out"]) == 0
    front = yaml.safe_load((tmp_path / "out/README.md").read_text().split("---")[1])
    assert front["base_model"] == "sentence-transformers/all-MiniLM-L6-v2"


def test_a_start_model_in_a_folder_of_the_project_has_none_and_its_parser_no_folder(encoder, tmp_path):
    (tmp_path / "there/models/mine").mkdir(parents=True)
    (tmp_path / "there/facetflow.toml").write_text('name = "there"\n[[corpora]]\ndataset = "example"\n')
    training = json.loads((encoder / "training.json").read_text())
    training["settings"] |= {"backbone": "models/mine", "parser": str(tmp_path / "there")}
    (encoder / "training.json").write_text(json.dumps(training))
    (encoder / "README.md").write_text(write_card(training))
    (encoder / "sentence_bert_config.json").write_text(
        json.dumps({"drawn": "tagged", "tagger": str(tmp_path / "there")})
    )
    assert run(["--project", "there/facetflow.toml", "publish", "--encoder", "./encoder", "-o", "out"]) == 0
    card = (tmp_path / "out/README.md").read_text()
    assert "base_model" not in yaml.safe_load(card.split("---")[1])
    assert str(tmp_path) not in card
    config = json.loads((tmp_path / "out/sentence_bert_config.json").read_text())
    assert config == {"drawn": "tagged", "tagger": "there"}


def test_models_of_another_machine_leave_no_folder_either(encoder, tmp_path):
    training = json.loads((encoder / "training.json").read_text())
    training["settings"] |= {"backbone": "/cluster/models/start", "tagger": "~/cluster/models/tagger"}
    (encoder / "training.json").write_text(json.dumps(training))
    (encoder / "README.md").write_text(write_card(training))
    (encoder / "sentence_bert_config.json").write_text(json.dumps({"tagger": "~/cluster/models/tagger"}))
    assert run(["publish", "--encoder", "./encoder", "-o", "out"]) == 0
    assert not any(
        "cluster" in path.read_text() for path in (tmp_path / "out").rglob("*") if path.suffix != ".safetensors"
    )


@pytest.mark.parametrize("options", [["--push"], ["--public"], ["--name", "mine"]])
def test_nothing_is_uploaded_by_mistake(encoder, options, refuses, tmp_path):
    refuses(Conflict, "publish", "--encoder", "./encoder", "-o", "out", *options)
    assert not (tmp_path / "out").exists()


def test_what_runs_code_or_has_no_record_is_not_published(encoder, word_encoder, refuses, tmp_path):
    (encoder / "classifier.pt").write_bytes(b"")
    refuses(ModelUnfit, "publish", "--encoder", "./encoder", "-o", "out")
    refuses(NotThisModel, "publish", "--encoder", str(word_encoder), "-o", "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/notes.txt").write_text("mine")
    (encoder / "classifier.pt").unlink()
    refuses(OutputOverwrites, "publish", "--encoder", "./encoder", "-o", "full")
    assert [path.name for path in tmp_path.glob(".*.tmp")] == []


def test_it_is_uploaded_when_asked_and_private(encoder, monkeypatch, capsys, tmp_path):
    asked = []

    class Api:
        def create_repo(self, name, **given):
            asked.append((name, given))
            return f"https://hub.example/{name}"

        def upload_folder(self, *, repo_id, folder_path, **_):
            asked.append((repo_id, sorted(path.name for path in folder_path.iterdir() if path.is_file())))

    monkeypatch.setattr("huggingface_hub.HfApi", Api)
    assert run(["publish", "--encoder", "./encoder", "-o", "out", "--name", "me/mine", "--push"]) == 0
    assert "Uploaded to https://hub.example/me/mine" in capsys.readouterr().err
    assert asked[0] == ("me/mine", {"private": True, "exist_ok": True})
    assert {"README.md", "modules.json", "training.json"} <= set(asked[1][1])


def test_without_a_hub_the_folder_stays(encoder, monkeypatch, refuses, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    class Api:
        def create_repo(self, name, **given):
            raise ConnectionError("no network\nat all")

    monkeypatch.setattr("huggingface_hub.HfApi", Api)
    refuses(UploadFailed, "publish", "--encoder", "./encoder", "-o", "my out", "--name", "me/mine", "--push")
    assert (tmp_path / "my out/modules.json").is_file()


def test_neither_hidden_folders_nor_what_links_lead_to_is_published(encoder, tmp_path, refuses):
    (encoder / ".git").mkdir()
    (encoder / ".git/config").write_text("url = https://me:secret@hub.example")
    assert run(["publish", "--encoder", "./encoder", "-o", "out"]) == 0
    assert not (tmp_path / "out/.git").exists()
    (tmp_path / "key").write_text("secret")
    (encoder / "notes.txt").symlink_to(tmp_path / "key")
    refuses(ModelUnfit, "publish", "--encoder", "./encoder", "-o", "again")
    assert not (tmp_path / "again").exists()

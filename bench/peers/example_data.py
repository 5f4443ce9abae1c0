"""Data sets with the names that PyG's examples import, of the graph store that EXAMPLE_STORE names."""

import json
import os

import numpy as np
import torch
from torch_geometric.data import Data


class _Dataset:
    def __init__(self, *_arguments, transform=None, **_options):
        directory = os.environ["EXAMPLE_STORE"]

        def load(name):
            stored = np.load(f"{directory}/{name}.npy")
            return torch.from_numpy(np.array(stored, dtype=np.int64 if stored.dtype == np.uint32 else stored.dtype))

        indptr, indices = load("indptr"), load("indices")
        nodes = len(indptr) - 1
        columns = torch.repeat_interleave(torch.arange(nodes), indptr.diff())
        self.split = {name: load(name) for name in ("train", "valid", "test")}
        data = Data(x=load("features").float(), y=load("labels").long(), edge_index=torch.stack([indices, columns]))
        for mask, name in (("train_mask", "train"), ("val_mask", "valid"), ("test_mask", "test")):
            data[mask] = torch.zeros(nodes, dtype=torch.bool)
            data[mask][self.split[name]] = True
        self.data = data if transform is None else transform(data)
        self.num_classes = json.load(open(f"{directory}/meta.json"))["num_classes"]
        self.num_features = self.data.num_features

    def __getitem__(self, _index):
        return self.data

    def get_idx_split(self):
        return self.split


class Reddit(_Dataset):
    pass


class Planetoid(_Dataset):
    pass


class PygNodePropPredDataset(_Dataset):
    pass


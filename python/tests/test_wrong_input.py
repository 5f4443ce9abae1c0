"""Wrong input is a Python exception that names the argument, and never a crash."""

from __future__ import annotations

import copy
import ctypes
import json
import random
import warnings

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData

import gnomon
from conftest import random_data, random_seed
from gnomon import InvalidInput
from gnomon._library import EpochInput, Sampling, check, library
from gnomon.pyg import LinkNeighborLoader, NeighborLoader, Sampler

MASKS = [
    torch.ones(2999, dtype=torch.bool),
    np.ones((3000, 2), dtype=bool),
    torch.ones(3000, dtype=torch.bool).to_sparse(),
    torch.ones(3000, dtype=torch.bool, device="meta"),
]
NODES = {
    "num_neighbors": [[], [-2], [513], [1.5], ["a"], "ab", None, {"a": [1]}, [float("nan")]],
    "input_nodes": [
        [-1],
        [3000],
        [0.5],
        torch.tensor([float("nan")]),
        torch.zeros(2, 2).long(),
        "train",
        [[1], [2]],
        *MASKS,
    ],
    "input_time": [torch.arange(3)],
    "time_attr": ["time"],
    "temporal_strategy": ["last"],
    "subgraph_type": ["both", 3],
    "weight_attr": ["nothing", "x", "bad_weight", "nan_weight", "train_mask_"],
    "neighbor_sampler": [object(), 3],
    "batch_size": [0, -1, 1.5, "a", None, True],
    "num_workers": [-1, 5000, 1.5],
    "prefetch_factor": [0, -3, "a"],
    "timeout": [-1, "a", float("nan")],
    "seed": [-1, 2**64, 0.5],
    "expand": ["twice", None],
    "threads_per_batch": [0, 1000],
    "cached_rows": [5, -1, 1.5, "a"],
    "generator": [3],
    "shuffle": ["yes"],
    "worker_init_fn": [print],
    "rank": [1, -1],
    "world_size": [0, "a"],
}
LINKS = {
    "edge_label_index": [
        torch.zeros(3, 2).long(),
        torch.full((2, 2), 9999),
        torch.rand(2, 4),
        ("a", None),
        [[-1], [0]],
    ],
    "edge_label": [torch.zeros(3), "a"],
    "neg_sampling": ["pairs", 7],
    "neg_sampling_ratio": [-1, "a"],
    "edge_label_time": [torch.arange(3)],
}


@pytest.fixture(scope="module")
def odd(data):
    odd = copy.copy(data)
    odd.bad_weight = -data.edge_weight
    odd.nan_weight = torch.full_like(data.edge_weight, float("nan"))
    return odd


@pytest.mark.parametrize("name, value", [(name, value) for name, values in NODES.items() for value in values])
def test_arguments_of_nodes(odd, name, value):
    with pytest.raises(InvalidInput, match=name):
        NeighborLoader(odd, **{"num_neighbors": [2, 2], name: value})


@pytest.mark.parametrize("name, value", [(name, value) for name, values in LINKS.items() for value in values])
def test_arguments_of_links(odd, name, value):
    with pytest.raises(InvalidInput, match=name):
        LinkNeighborLoader(odd, **{"num_neighbors": [2, 2], name: value})


def test_combinations(data):
    for first, second in (
        ({"sampler": [1]}, {"shuffle": True}),
        ({"world_size": 2}, {"sampler": [1]}),
        ({"batch_sampler": [[1]]}, {"batch_size": 3}),
        ({"disjoint": True}, {"subgraph_type": "induced"}),
        ({"disjoint": True}, {"expand": "every_hop"}),
    ):
        NeighborLoader(data, [2], **first)
        with pytest.raises(InvalidInput, match=next(iter(first))):
            NeighborLoader(data, [2], **first, **second)
    with pytest.raises(InvalidInput, match="edge_label"):
        labels = torch.zeros(data.num_edges)
        LinkNeighborLoader(data, [2], edge_label=labels, neg_sampling="triplet")
    with pytest.raises(TypeError, match="no_such"):
        NeighborLoader(data, [2], no_such=1)
    for wrong in ([5000], [-1]):
        with pytest.raises(InvalidInput, match="sampler"):
            iter(NeighborLoader(data, [2], sampler=wrong))


@pytest.mark.parametrize(
    "edge_index",
    [
        torch.tensor([[0, 5], [1, 1]]),
        torch.tensor([[0, 1], [1, -1]]),
        torch.rand(2, 3),
        torch.tensor([[0.0, float("nan")], [1.0, 1.0]]),
        torch.zeros(3, 2).long(),
        torch.zeros(4).long(),
        torch.zeros(2, 2).long().to_sparse(),
    ],
)
def test_edges(edge_index):
    with pytest.raises(InvalidInput, match="edge_index"):
        NeighborLoader(Data(edge_index=edge_index, num_nodes=3), [2])


def freed(tensor):
    tensor = tensor.clone()
    tensor.untyped_storage().resize_(8)
    return tensor


@pytest.mark.parametrize("change", [freed, lambda tensor: tensor.to("meta")])
def test_tensors_without_memory(data, change):
    for name in ("edge_index", "edge_weight", "x", "y", "edge_attr"):
        odd = copy.copy(data)
        odd[name] = change(data[name])
        options = {"weight_attr": "edge_weight"} if name == "edge_weight" else {}
        if odd[name].is_meta and not options and name != "edge_index":
            continue  # an attribute on another device, which torch gathers there
        with pytest.raises(InvalidInput, match=next(iter(options), name)):
            next(iter(NeighborLoader(odd, [2], num_workers=1, **options)))
    with pytest.raises(InvalidInput, match="input_nodes"):
        NeighborLoader(data, [2], input_nodes=change(torch.arange(50)))
    with pytest.raises(InvalidInput, match="edge_label_index"):
        LinkNeighborLoader(data, [2], edge_label_index=change(data.edge_index))


def odd_tensors(draws, num_nodes, num_edges):
    """Attributes that fit the graph in some way or other, or not."""
    rows = draws.choice([num_nodes, num_edges, 3, 0])
    tensor = draws.choice([torch.randn(rows, 4), torch.zeros(rows), torch.ones(rows, 2, 3).bool(), torch.tensor(1.0)])
    changes = [
        lambda each: each,
        freed,
        lambda each: each.to("meta"),
        lambda each: each.double(),
        lambda each: each.expand(2, *each.shape).transpose(0, -1),
        lambda each: each * float("nan"),
        lambda each: each.to_sparse() if each.dim() else each,
        lambda each: each.requires_grad_() if each.is_floating_point() else each,
    ]
    return draws.choice(changes)(tensor)


def test_fuzz_of_data():
    """1,000 graphs with attributes, edges and links of all kinds."""
    seed, made = random_seed(4), 0
    draws = random.Random(seed)
    for number in range(1000):
        data = random_data(40, 200, seed=seed + number)
        for name in draws.sample(["x", "y", "edge_attr", "edge_weight", "train_mask", "more"], draws.randrange(3)):
            data[name] = odd_tensors(draws, 40, 200)
        if draws.random() < 0.2:
            data.edge_index = draws.choice([freed(data.edge_index), data.edge_index.t(), data.edge_index * 2, None])
        options = {"weight_attr": "edge_weight"} if draws.random() < 0.3 else {}
        kind = draws.choice([NeighborLoader, LinkNeighborLoader])
        try:
            for batch in kind(data, [2, 2], batch_size=20, num_workers=number % 2, **options):
                assert batch.n_id.numel() > 0
            made += 1
        except InvalidInput as error:
            assert ":" in str(error)
    assert made > 300


def test_names_of_splits_need_a_store(data):
    with pytest.raises(InvalidInput, match="input_nodes: 'train' names a split.*data.train_mask"):
        NeighborLoader(data, [2], input_nodes="train")


def test_what_is_not_supported():
    for data in (HeteroData(), Data(x=torch.zeros(3, 1)), (1, 2), None, "store"):
        with pytest.raises(InvalidInput, match="data"):
            NeighborLoader(data, [2])


def test_odd_but_valid_input():
    data = random_data(100, 900)
    data.edge_index = data.edge_index.int().t().contiguous().t()  # not contiguous, 32 bits
    read_only = np.arange(10, dtype=np.uint32)
    read_only.flags.writeable = False
    for nodes in (
        np.arange(10),
        read_only,
        torch.arange(10, dtype=torch.uint8),
        list(range(10)),
        range(10),
        torch.arange(20)[::2] // 2,
        torch.arange(100) < 10,
        np.arange(100) < 10,
        [node < 10 for node in range(100)],
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            loader = NeighborLoader(data, [np.int64(3)], nodes, batch_size=np.int64(10), num_workers=torch.tensor(1))
        (batch,) = loader
        assert batch.n_id[:10].tolist() == batch.input_id.tolist() == list(range(10))
        assert torch.equal(data.edge_index[:, batch.e_id].long(), batch.n_id[batch.edge_index])
    assert NeighborLoader(data, [3], shuffle=np.bool_(True), drop_last=np.bool_(False))._options.shuffle is True
    empty = Data(x=torch.zeros(4, 0), edge_index=torch.empty(2, 0).long(), num_nodes=4)
    batches = list(NeighborLoader(empty, [3, 3], batch_size=3, num_workers=1))
    assert [batch.num_nodes for batch in batches] == [3, 1] and batches[0].edge_index.shape == (2, 0)
    assert list(NeighborLoader(data, [3], input_nodes=[], num_workers=1)) == []


def test_attributes_of_wrong_size_are_passed_on(data):
    loader = NeighborLoader(copy.copy(data), [3], batch_size=100, num_workers=1)
    loader.data.x = data.x[:7]
    loader.data.num_nodes = data.num_nodes
    assert next(iter(loader)).x.shape == (7, 16)


def test_stores_that_are_none(tmp_path):
    with pytest.raises(InvalidInput, match="nothing"):
        gnomon.open(tmp_path / "nothing")
    (tmp_path / "meta.json").write_text(json.dumps({"schema": "gnomon.graph/1"}))
    with pytest.raises(InvalidInput, match="meta.json"):
        gnomon.open(tmp_path)


@pytest.mark.slow
def test_fuzz():
    """10,000 loaders of random arguments, many of them wrong, and the batches of those that are not."""
    draws = random.Random(random_seed(1))
    data = random_data(40, 200)
    data.bad_weight = -data.edge_weight
    values = {name: [*wrong, *right] for (name, wrong), right in zip(NODES.items(), _RIGHT)}
    made = 0
    for _ in range(10000):
        names = draws.sample(list(values), draws.randrange(4))
        arguments = {"num_neighbors": [2, 3], "num_workers": 0, **{name: draws.choice(values[name]) for name in names}}
        kind = draws.choice([NeighborLoader, LinkNeighborLoader, Sampler])
        if kind is not NeighborLoader:
            arguments.pop("input_nodes", None)
            arguments.pop("input_time", None)
        if kind is Sampler:
            arguments.pop("neighbor_sampler", None)
        try:
            loader = kind(data, **arguments)
            if kind is not Sampler:
                next(iter(loader))
            made += 1
        except (InvalidInput, StopIteration):
            pass
    assert made > 1000


_RIGHT = [
    [[2], [-1, 1], (3, 3, 3)] * 3,
    [None, [1, 2, 3], torch.ones(40).bool(), range(5)],
    [None] * 9,
    [None] * 9,
    ["uniform"] * 9,
    ["directional", "induced", "bidirectional"],
    [None, "edge_weight"],
    [None] * 9,
    [1, 7, 1000],
    [0, 1, 2],
    [1, 4],
    [0, 100.0],
    [0, 2**64 - 1],
    ["once", "every_hop"],
    [1, 2],
    [None, torch.Generator()],
    [True, False],
    [None] * 9,
    [0],
    [1],
]


def test_the_c_api_refuses_wrong_structures():
    """Random numbers in every field that is not a pointer."""
    draws = random.Random(random_seed(2))
    edges = (ctypes.c_int64 * 4)(0, 1, 2, 0)
    graph, loader, epoch = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    check(library.gnomon_graph_from_edges(3, 4, edges, edges, None, ctypes.byref(graph)))
    fanouts = (ctypes.c_int32 * 2)(2, 2)
    numbers = [0, 1, 2, 3, -1, -(2**31), 2**31 - 1]
    for _ in range(500):
        sampling = Sampling(num_hops=2, fanouts=fanouts, threads_per_batch=1)
        for name in ("expansion", "replace", "disjoint", "subgraph", "threads_per_batch"):
            if draws.random() < 0.4:
                setattr(sampling, name, draws.choice(numbers))
        if library.gnomon_loader_new(graph, sampling, ctypes.byref(loader)) != 0:
            assert library.gnomon_last_error()
            continue
        given = EpochInput(num_batches=2, batch_begins=ctypes.addressof((ctypes.c_int64 * 3)(0, 1, 2)))
        begins = (ctypes.c_int64 * 3)(0, 1, 2)
        given.batch_begins, given.seeds = ctypes.addressof(begins), ctypes.addressof(edges)
        given.max_ahead = 1
        for name in ("num_workers", "max_ahead", "first_batch", "negatives", "num_vertex_attributes"):
            if draws.random() < 0.3:
                setattr(given, name, draws.choice(numbers[:-1]))
        if library.gnomon_epoch_begin(loader, given, ctypes.byref(epoch)) == 0:
            library.gnomon_epoch_free(epoch)
        else:
            assert library.gnomon_last_error()
        library.gnomon_loader_free(loader)
    for arguments in ((-1, 4), (3, -4), (2, 4), (0, 1)):
        assert library.gnomon_graph_from_edges(*arguments, edges, edges, None, ctypes.byref(graph)) == 2
    assert library.gnomon_graph_from_edges(3, 4, None, edges, None, ctypes.byref(graph)) == 2
    assert library.gnomon_loader_new(None, Sampling(), ctypes.byref(loader)) == 2

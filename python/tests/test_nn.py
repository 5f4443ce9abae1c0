"""gnomon.nn's layers against PyG's."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest
import torch
import torch_geometric.nn as theirs
from torch_geometric.data import Data
from torch_geometric.utils import trim_to_layer

import gnomon.nn as ours
from conftest import random_data
from gnomon import InvalidInput
from gnomon._openmp import parallel_of_openmp
from gnomon.pyg import NeighborLoader

LAYERS = [
    ("SAGEConv", {}),
    ("SAGEConv", {"aggr": "sum", "normalize": True, "root_weight": False, "bias": False}),
    ("GCNConv", {}),
    ("GCNConv", {"bias": False}),
    ("GCNConv", {"add_self_loops": False}),
    ("GCNConv", {"normalize": False}),
    ("GCNConv", {"improved": True}),
    ("GATConv", {"heads": 3}),
    ("GATConv", {"heads": 2, "add_self_loops": False}),
    ("GATConv", {"heads": 2, "concat": False, "negative_slope": 0.1, "bias": False}),
]


def pair_of(name, options, columns, width):
    torch.manual_seed(0)
    expected = getattr(theirs, name)(columns, width, **options)
    layer = getattr(ours, name)(columns, width, **options)
    for parameter in expected.parameters():  # biases are zeros at first
        torch.nn.init.normal_(parameter, std=0.3)
    layer.load_state_dict(expected.state_dict())
    return layer, expected


def gradients(outputs, x, layer, weights):
    loss = (outputs * weights[: outputs.shape[0], : outputs.shape[1]]).sum()
    return torch.autograd.grad(loss, [x, *layer.parameters()])


def check_close(left, right):
    torch.testing.assert_close(left, right, rtol=1e-5, atol=1e-5 * max(1.0, float(right.detach().abs().max())))


@pytest.mark.parametrize("name, options", LAYERS)
@pytest.mark.parametrize("edges", [0, 300, 9000])
def test_whole_graphs(name, options, edges):
    data = random_data(150, edges, seed=edges)
    if edges:
        data.edge_index[:, :20] = torch.arange(20)  # self-loops
        # GCNConv counts repeated self-loops once and other repeated edges as often as they are there.
    layer, expected = pair_of(name, options, 16, 7)
    weights = torch.randn(150, 100)
    x, y = data.x.clone().requires_grad_(), data.x.clone().requires_grad_()
    out, reference = layer(x, data.edge_index), expected(y, data.edge_index)
    check_close(out, reference)
    for left, right in zip(gradients(out, x, layer, weights), gradients(reference, y, expected, weights)):
        check_close(left, right)


@pytest.mark.parametrize("name, options", LAYERS)
def test_blocks_of_batches(data, name, options):
    first, first_expected = pair_of(name, options, 16, 8)
    width = first(data.x[:1], torch.empty(2, 0, dtype=torch.int64)).shape[1]
    second, second_expected = pair_of(name, options, width, 5)
    for batch in NeighborLoader(data, [6, 5], input_nodes=range(300), batch_size=100, num_workers=1):
        blocks = ours.blocks_of(batch)
        assert blocks[0].num_destinations == blocks[1].num_sources
        x = first(batch.x, blocks[0]).relu()
        out = second(x, blocks[1])
        x, edges = batch.x, batch.edge_index
        for i, layer in enumerate((first_expected, second_expected)):
            x, edges, _ = trim_to_layer(i, batch.num_sampled_nodes, batch.num_sampled_edges, x, edges)
            x = layer(x.relu() if i else x, edges)
        check_close(out, x[: batch.batch_size])


GCN_OPTIONS = [{}, {"improved": True}, {"add_self_loops": False}, {"normalize": False}]


@pytest.mark.parametrize("options", GCN_OPTIONS)
@pytest.mark.parametrize("is_sorted", [False, True])
def test_edge_weights(options, is_sorted):
    data = random_data(150, 3000)
    data.edge_index[:, :20] = torch.arange(20)  # self-loops
    if is_sorted:
        data.edge_index = data.edge_index[:, data.edge_index[1].argsort(stable=True)]
    layer, expected = pair_of("GCNConv", options, 16, 7)
    results = []
    for each in (layer, expected):
        x, weight = data.x.clone().requires_grad_(), data.edge_weight.clone().requires_grad_()
        out = each(x, edge_index=data.edge_index, edge_weight=weight)
        results.append([out, *torch.autograd.grad(out.square().sum(), [x, weight, *each.parameters()])])
    for left, right in zip(*results):
        check_close(left, right)


@pytest.mark.parametrize("options", GCN_OPTIONS)
def test_edge_weights_of_batches(data, options):
    (first, first_expected), (second, second_expected) = (
        pair_of("GCNConv", options, *each) for each in ((16, 8), (8, 5))
    )
    for batch in NeighborLoader(data, [6, 5], input_nodes=range(300), batch_size=100, num_workers=1):
        blocks = ours.blocks_of(batch)
        out = second(first(batch.x, blocks[0], batch.edge_weight), blocks[1], batch.edge_weight)
        x, edges, weights = batch.x, batch.edge_index, batch.edge_weight
        for i, layer in enumerate((first_expected, second_expected)):
            x, edges, weights = trim_to_layer(i, batch.num_sampled_nodes, batch.num_sampled_edges, x, edges, weights)
            x = layer(x, edges, weights)
        check_close(out, x[: batch.batch_size])
        with pytest.raises(InvalidInput, match="edge_weight"):
            first(batch.x, blocks[0], batch.edge_weight[1:])
        with pytest.raises(InvalidInput, match="edge_weight"):
            first(batch.x, blocks[0], batch.edge_weight.double())


PAIRS = [
    ("SAGEConv", (16, 9), {}),
    ("SAGEConv", 16, {"aggr": "sum", "normalize": True, "root_weight": False}),
    ("GATConv", 16, {"heads": 3}),
    ("GATConv", 16, {"add_self_loops": False}),
]


@pytest.mark.parametrize("name, columns, options", PAIRS)
def test_pairs_of_features(name, columns, options):
    data = random_data(150, 900)
    data.edge_index[1] %= 40  # the destinations
    layer, expected = pair_of(name, options, columns, 7)
    results = []
    for each in (layer, expected):
        x = data.x.clone().requires_grad_()
        own = torch.linspace(-1, 1, 40 * 16).view(40, 16)[:, : 16 if columns == 16 else 9].clone().requires_grad_()
        out = each((x, own), data.edge_index)
        results.append([out, *torch.autograd.grad(out.square().sum(), [x, own, *each.parameters()], allow_unused=True)])
    for left, right in zip(*results):
        assert (left is None) == (right is None)
        if left is not None:
            check_close(left, right)


def test_pairs_as_pygs_examples_make_them(data):
    layer, expected = pair_of("SAGEConv", {}, 16, 7)
    fused = ours.SAGEConv(16, 7, activation="relu")
    fused.load_state_dict(layer.state_dict())
    for batch in NeighborLoader(data, [6], input_nodes=range(300), batch_size=100, num_workers=1, stored=["x"]):
        x = batch.x.gather()
        pair = x, x[: batch.batch_size]
        out = layer(pair, batch.edge_index)
        check_close(out, expected(pair, batch.edge_index))
        (block,) = ours.blocks_of(batch)
        for same in (layer(x, block), layer(pair, block), layer((batch.x, pair[1]), block)):
            check_close(same, out)
        check_close(fused(pair, block), out.relu())
        check_close(
            layer((x, None), block),
            torch.nn.functional.linear(pair[1] * 0, layer.lin_r.weight) + layer((x, pair[1] * 0), block),
        )


def test_wrong_pairs(data):
    block = ours.Block(torch.tensor([[5], [0]]), 10, 3)
    x = data.x[:10]
    for layer in (ours.SAGEConv(16, 4), ours.GATConv(16, 4)):
        for own in (x[:4], x[:3, :7], x[:3].double(), x[0]):
            with pytest.raises(InvalidInput, match=r"x\[1\]"):
                layer((x, own), block)
        with pytest.raises(InvalidInput, match="pair"):
            layer((x, x, x), block)
    with pytest.raises(InvalidInput, match="SAGEConv and GATConv only"):
        ours.GCNConv(16, 4)((x, x[:3]), block)
    with pytest.raises(InvalidInput, match="in_channels"):
        ours.GATConv((16, 8), 4)


@pytest.mark.parametrize("name, options", LAYERS)
def test_lazy_layers(data, name, options):
    make = getattr(ours, name)
    layer = make(-1, 7, **options)
    assert isinstance(pickle.loads(pickle.dumps(layer)).state_dict(), dict)
    torch.manual_seed(4)
    out = layer(data.x, data.edge_index)
    assert out.shape[0] == data.num_nodes and bool((out != 0).any())
    for given, other in (
        (layer, make(-1, 7, **options)),
        (getattr(theirs, name)(16, 7, **options), make(-1, 7, **options)),
    ):
        other.load_state_dict(given.state_dict())
        check_close(other(data.x, data.edge_index), given(data.x, data.edge_index))
    eager = make(16, 7, **options)
    eager.load_state_dict(make(-1, 7, **options).state_dict())
    assert eager(data.x[:, :9].contiguous(), data.edge_index).shape == out.shape


def test_lazy_layers_of_stored_rows(data):
    layer = ours.SAGEConv(-1, 6)
    batch = next(iter(NeighborLoader(data, [5], stored=["x"], batch_size=50, num_workers=1)))
    assert layer(batch.x, ours.blocks_of(batch)[0]).shape == (50, 6)
    assert layer.lin_l.weight.shape == (6, 16)


@pytest.mark.parametrize("name", ["SAGEConv", "GCNConv", "GATConv"])
def test_wrong_widths(data, name):
    layer = getattr(ours, name)(26, 4)
    with pytest.raises(InvalidInput, match="^x: has 16 columns, but in_channels is 26$"):
        layer(data.x, data.edge_index)


@pytest.mark.parametrize(
    "name, options",
    [
        ("SAGEConv", {"project": True}),
        ("SAGEConv", {"flow": "target_to_source"}),
        ("GCNConv", {"cached": True}),
        ("GCNConv", {"add_self_loops": True, "normalize": False}),
        ("GCNConv", {"aggr": "mean"}),
        ("GATConv", {"edge_dim": 3}),
        ("GATConv", {"residual": True}),
    ],
)
def test_options_of_pyg_that_are_not_supported(name, options):
    with pytest.raises(InvalidInput, match=f"^{next(iter(options))}: "):
        getattr(ours, name)(16, 4, **options)
    getattr(ours, name)(16, 4, flow="source_to_target")
    with pytest.raises(TypeError, match="no_such"):
        getattr(ours, name)(16, 4, no_such=1)


def test_inputs_of_pyg_that_are_not_supported(data):
    for layer, inputs in (
        (ours.SAGEConv(16, 4), {"size": (3000, 3000)}),
        (ours.GATConv(16, 4), {"edge_attr": data.edge_attr}),
        (ours.GATConv(16, 4), {"return_attention_weights": True}),
    ):
        with pytest.raises(InvalidInput, match=next(iter(inputs))):
            layer(data.x, data.edge_index, **inputs)


def test_arguments_have_the_order_of_pyg():
    for name in ("SAGEConv", "GCNConv", "GATConv"):
        own, other = (list(inspect.signature(getattr(kind, name)).parameters) for kind in (ours, theirs))
        assert own[: len(other) - 1] == other[:-1]  # without **kwargs
        own, other = (list(inspect.signature(getattr(kind, name).forward).parameters) for kind in (ours, theirs))
        assert own == other


def test_training_by_our_layers_is_training_by_theirs(data):
    def train(make):
        torch.manual_seed(3)
        layers = [make(16, 8), make(8, 5)]
        for i, layer in enumerate(layers):
            torch.manual_seed(i)
            for parameter in layer.parameters():
                torch.nn.init.normal_(parameter, std=0.2)
        optimiser = torch.optim.SGD([p for layer in layers for p in layer.parameters()], lr=0.1)
        for batch in NeighborLoader(data, [4, 4], batch_size=500, num_workers=1, seed=2, shuffle=True):
            x = layers[1](layers[0](batch.x, batch.edge_index).relu(), batch.edge_index)[: batch.batch_size]
            torch.nn.functional.cross_entropy(x, batch.y[: batch.batch_size]).backward()
            optimiser.step()
            optimiser.zero_grad()
        return torch.cat([p.detach().flatten() for layer in layers for p in layer.parameters()])

    torch.testing.assert_close(train(ours.SAGEConv), train(theirs.SAGEConv), rtol=1e-4, atol=1e-5)


def test_edges_need_not_be_sorted(data):
    layer = ours.SAGEConv(16, 4)
    shuffled = data.edge_index[:, torch.randperm(data.num_edges)]
    torch.testing.assert_close(layer(data.x, shuffled), layer(data.x, data.edge_index), rtol=1e-4, atol=1e-5)


def test_threads_do_not_matter(data):
    layer = ours.GATConv(16, 32, heads=4)
    before, results = torch.get_num_threads(), []
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            x = copy.deepcopy(data.x).requires_grad_()
            out = layer(x, data.edge_index)
            results.append((out.detach(), torch.autograd.grad(out.sum(), x)[0]))
    finally:
        torch.set_num_threads(before)
    for out, gradient in results[1:]:
        torch.testing.assert_close(out, results[0][0], rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(gradient, results[0][1], rtol=1e-4, atol=1e-4)


def test_torchs_threads_are_found():
    assert parallel_of_openmp() is not None


def test_wrong_input(data):
    layer = ours.SAGEConv(16, 4)
    for x in (data.x[:5], data.x.double(), data.x[0]):
        with pytest.raises(InvalidInput):
            layer(x, data.edge_index)
    for edges in (data.edge_index.int(), torch.tensor([[0], [5000]]), torch.tensor([[-1], [0]]), torch.zeros(3).long()):
        with pytest.raises(InvalidInput, match="edge_index"):
            layer(data.x, edges)
    with pytest.raises(InvalidInput, match="aggr"):
        ours.SAGEConv(3, 4, aggr="max")
    with pytest.raises(InvalidInput, match="batch"):
        ours.blocks_of(Data(edge_index=data.edge_index))


@pytest.mark.parametrize("options", [{}, {"root_weight": False, "bias": False}, {"normalize": True}])
def test_activation_is_a_relu(data, options):
    plain = ours.SAGEConv(16, 6, **options)
    fused = ours.SAGEConv(16, 6, activation="relu", **options)
    fused.load_state_dict(plain.state_dict())
    x, y = data.x.clone().requires_grad_(), data.x.clone().requires_grad_()
    out, expected = fused(x, data.edge_index), plain(y, data.edge_index).relu()
    check_close(out, expected)
    weights = torch.randn_like(expected)
    for left, right in zip(gradients(out, x, fused, weights), gradients(expected, y, plain, weights)):
        check_close(left, right)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_stored_rows_are_gathered_ones(data, dtype):
    layer = ours.SAGEConv(16, 6)
    kept = copy.copy(data)
    kept.x = data.x.to(dtype)
    options = {"batch_size": 300, "seed": 4, "num_workers": 1, "shuffle": True}
    batches = NeighborLoader(kept, [5, 4], stored=["x"], **options)
    for batch, gathered in zip(batches, NeighborLoader(kept, [5, 4], **options), strict=True):
        assert isinstance(batch.x, ours.StoredRows) and batch.x.shape == gathered.x.shape
        assert torch.equal(batch.x.gather(), gathered.x.float())
        block = ours.blocks_of(batch)[0]
        out, expected = layer(batch.x, block), layer(gathered.x.float(), block)
        check_close(out, expected)
        for left, right in zip(
            torch.autograd.grad(out.sum(), list(layer.parameters())),
            torch.autograd.grad(expected.sum(), list(layer.parameters())),
        ):
            check_close(left, right)


def test_stored_rows_that_cannot_be(data):
    for name in ("edge_attr", "nothing", "edge_index"):
        with pytest.raises(InvalidInput, match="stored"):
            next(iter(NeighborLoader(data, [2], stored=[name])))
    with pytest.raises(InvalidInput, match="stored"):
        NeighborLoader(data, [2], stored="x")
    for features, nodes in (
        (data.x.double(), torch.arange(3)),
        (data.x.t(), torch.arange(3)),
        (data.x, torch.arange(3).int()),
    ):
        with pytest.raises(InvalidInput):
            ours.StoredRows(features, nodes)
    rows = ours.StoredRows(data.x, torch.tensor([0, 5000]))
    for layer in (ours.GCNConv(16, 3), ours.GATConv(16, 3)):
        with pytest.raises(InvalidInput, match="gather"):
            layer(ours.StoredRows(data.x, torch.arange(2)), ours.Block(torch.tensor([[1], [0]]), 2))
    with pytest.raises(InvalidInput, match="vertices"):
        ours.SAGEConv(16, 3)(rows, ours.Block(torch.tensor([[1], [0]]), 2))


def test_memory_is_used_again():
    from gnomon.nn._memory import empty

    first = empty(1000, 100)
    place = first.data_ptr()
    assert first.shape == (1000, 100) and first.dtype == torch.float32
    del first
    second = empty(990, 100)
    assert second.data_ptr() == place
    third = empty(1000, 100)
    assert third.data_ptr() != place
    assert empty(0, 5).shape == (0, 5) and empty(3).shape == (3,)

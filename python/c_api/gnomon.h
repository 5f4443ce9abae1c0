/* The C API of gnomon: prepares mini-batches by neighbour sampling, for any language and framework.
 *
 * Plain C. Handles are opaque and freed by their gnomon_*_free function, which accepts NULL; they may be
 * freed in any order. Functions that can fail return a gnomon_status and leave a message in
 * gnomon_last_error(). No exception leaves the library. Input arrays are C-contiguous and in host memory.
 * Unless stated otherwise, functions may be called from any thread, but not concurrently on the same handle.
 *
 * Loaders start threads, which a fork does not copy: functions called in a forked child return GNOMON_FORKED.
 */
#ifndef GNOMON_C_API_H_
#define GNOMON_C_API_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GNOMON_API __attribute__((visibility("default")))

/* Incremented whenever a declaration below changes incompatibly. */
#define GNOMON_API_VERSION 3

typedef int32_t gnomon_status;
enum {
  GNOMON_OK = 0,
  GNOMON_FAILURE = 1,       /* a system error: memory, threads, files */
  GNOMON_INVALID_INPUT = 2, /* the message names the argument */
  GNOMON_END = 3,           /* the epoch has no more batches */
  GNOMON_PENDING = 4,       /* no batch is ready yet */
  GNOMON_FORKED = 5,        /* the handle belongs to the parent process */
  GNOMON_CANCELLED = 6      /* cancelled by a callback */
};

/* DLPack's structures (version 0.8), declared here so that no other header is needed. */
typedef struct gnomon_dl_device {
  int32_t device_type;
  int32_t device_id;
} gnomon_dl_device;
typedef struct gnomon_dl_type {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} gnomon_dl_type;
typedef struct gnomon_dl_tensor {
  void* data;
  gnomon_dl_device device;
  int32_t ndim;
  gnomon_dl_type dtype;
  int64_t* shape;
  int64_t* strides; /* NULL: C-contiguous */
  uint64_t byte_offset;
} gnomon_dl_tensor;
typedef struct gnomon_dl_managed {
  gnomon_dl_tensor tensor;
  void* manager;
  void (*deleter)(struct gnomon_dl_managed*);
} gnomon_dl_managed;

GNOMON_API int32_t gnomon_api_version(void);
/* The version of the library, for instance "0.1.0". */
GNOMON_API const char* gnomon_version(void);
/* Message of the last error in this thread: one line of UTF-8, valid until the thread's next call. */
GNOMON_API const char* gnomon_last_error(void);
/* The number of cores that this process may use. */
GNOMON_API int32_t gnomon_usable_cores(void);
/* The number of physical cores that this process may use. */
GNOMON_API int32_t gnomon_physical_cores(void);
/* The number of NUMA nodes whose memory this process may use; 1 if unknown. */
GNOMON_API int32_t gnomon_memory_nodes(void);
/* Interleaves the pages that lie within `memory` over these NUMA nodes, so that reads use the bandwidth of
 * all nodes. The content does not change. */
GNOMON_API gnomon_status gnomon_spread_memory(const void* memory, uint64_t bytes);

/* Threads of the caller: `run` calls body(data) on up to `count` threads at once, including the caller's, and
 * returns when all have returned. libgomp's GOMP_parallel is such a function, so that the threads of the
 * calling framework can be used. NULL, or a NULL `run`: the caller's thread only. */
typedef struct gnomon_threads {
  void (*run)(void (*body)(void*), void* data, unsigned count, unsigned flags);
  int32_t count;
} gnomon_threads;

/* ---- Graphs ---- */

/* A graph's structure, in memory. */
typedef struct gnomon_graph gnomon_graph;

/* Makes a graph from `num_edges` edges from sources[e] to destinations[e], in any order; a vertex aggregates
 * from the sources of its edges. Repeated edges are kept. `weights` (finite, not negative) is NULL for
 * uniform draws. The arrays are copied. */
GNOMON_API gnomon_status gnomon_graph_from_edges(int64_t num_vertices, int64_t num_edges,
                                                 const int64_t* sources, const int64_t* destinations,
                                                 const float* weights, gnomon_graph** graph);
/* Makes a graph from its CSC form: vertex v aggregates from sources[indptr[v]] … sources[indptr[v + 1] - 1].
 * An edge's id is edge_ids[e], or e if edge_ids is NULL. */
GNOMON_API gnomon_status gnomon_graph_from_csc(int64_t num_vertices, int64_t num_edges, const int64_t* indptr,
                                               const int64_t* sources, const int64_t* edge_ids,
                                               const float* weights, gnomon_graph** graph);
/* Opens a store on disk. Features and labels are memory-mapped. `weighted`: sample by the store's edge
 * weights. */
GNOMON_API gnomon_status gnomon_graph_open(const char* directory, int32_t weighted, gnomon_graph** graph);
GNOMON_API void gnomon_graph_free(gnomon_graph* graph);
GNOMON_API int64_t gnomon_graph_num_vertices(const gnomon_graph* graph);
GNOMON_API int64_t gnomon_graph_num_edges(const gnomon_graph* graph);
/* Calls gnomon_spread_memory for the graph's structure. */
GNOMON_API gnomon_status gnomon_graph_spread(const gnomon_graph* graph);

/* A store's data beside its structure. Views are read-only and valid as long as the graph. */
typedef struct gnomon_store_arrays {
  int32_t has_features;
  int32_t num_classes;
  gnomon_dl_tensor labels; /* int32, vertices; -1 if unknown; data is NULL if there are none */
  int64_t labels_shape[1];
} gnomon_store_arrays;
GNOMON_API gnomon_status gnomon_graph_store_arrays(const gnomon_graph* graph, gnomon_store_arrays* arrays);

/* ---- Loaders ---- */

enum { GNOMON_EXPAND_ONCE = 0, GNOMON_EXPAND_EVERY_HOP = 1 };
enum { GNOMON_DIRECTIONAL = 0, GNOMON_INDUCED = 1 };
enum { GNOMON_NO_NEGATIVES = 0, GNOMON_BINARY = 1, GNOMON_TRIPLET = 2 };

/* The sampling rule of a loader. Zero is a good default for all fields but num_hops, fanouts and
 * threads_per_batch. */
typedef struct gnomon_sampling {
  int32_t num_hops;
  const int32_t* fanouts; /* of each hop from the seeds outwards: 0 to 512, or -1 for all neighbours */
  uint64_t seed;
  int32_t expansion; /* expand a vertex once, in the hop after its first appearance, or in every hop */
  int32_t replace;   /* sample with replacement */
  int32_t disjoint;  /* every seed has a subgraph of its own */
  int32_t subgraph;  /* the sampled edges, or all edges between the sampled vertices */
  int32_t threads_per_batch; /* threads that prepare one batch together */
  int32_t pin_threads;       /* pin each worker, and each thread of its batches, to one core */
} gnomon_sampling;

typedef struct gnomon_loader gnomon_loader;
GNOMON_API gnomon_status gnomon_loader_new(const gnomon_graph* graph, const gnomon_sampling* sampling,
                                           gnomon_loader** loader);
GNOMON_API void gnomon_loader_free(gnomon_loader* loader);

/* Functions that page-lock (pin) memory, so that a device can copy from it asynchronously, for instance
 * cudaHostRegister and cudaHostUnregister. They return 0 on success and must be thread-safe. */
typedef struct gnomon_page_lock {
  int32_t (*lock)(void* memory, uint64_t bytes, uint32_t flags);
  int32_t (*unlock)(void* memory);
  uint32_t flags; /* passed to `lock` */
} gnomon_page_lock;
/* Page-locks the memory of the loader's large tensors from the next batch on. Memory that cannot be locked
 * stays pageable. The functions must stay callable as long as the loader or one of its tensors lives. */
GNOMON_API gnomon_status gnomon_loader_lock_pages(gnomon_loader* loader, const gnomon_page_lock* lock);

/* Lends memory, aligned to 64 bytes, to a loader: a tensor of at least 64 KiB that fits is made there instead
 * of in the loader's own memory, one tensor at a time. The memory is the caller's again when
 * gnomon_tensor_detach was called for its tensor; until then it must stay valid, as long as the loader or one
 * of its tensors lives. */
GNOMON_API gnomon_status gnomon_loader_lend(gnomon_loader* loader, void* memory, uint64_t bytes);
/* Deletes a tensor of a batch; memory that was lent for it is the caller's again. */
GNOMON_API void gnomon_tensor_detach(gnomon_dl_managed* tensor);

/* Lets batches that gnomon_epoch_next prepares in its caller be prepared by these threads, instead of by
 * threads_per_batch threads of the loader's own, which would compete with an OpenMP runtime's threads, as
 * these spin between parallel regions. From the next epoch on; `run` must stay callable as long as the loader
 * lives. */
GNOMON_API gnomon_status gnomon_loader_share(gnomon_loader* loader, const gnomon_threads* threads);

/* Writes to `order` a random permutation of 0 … count - 1 that depends on seed and epoch only. */
GNOMON_API void gnomon_epoch_order(int64_t count, uint64_t seed, uint64_t epoch, int64_t* order);

/* ---- Epochs ---- */

/* The mini-batches of an epoch and the attributes to gather. The arrays must live as long as the epoch. */
typedef struct gnomon_epoch_input {
  uint64_t epoch;
  int64_t num_batches;
  const int64_t* batch_begins; /* num_batches + 1 positions in `seeds` */
  const int64_t* seeds;        /* vertices, or the sources of links */
  const int64_t* link_ends;    /* the destinations of links; NULL for vertices */
  int32_t negatives;           /* negative sampling of links: none, binary or triplet */
  double negatives_per_link;
  int64_t first_batch; /* the batch to start from */
  int32_t num_workers; /* threads that prepare batches ahead; 0: gnomon_epoch_next prepares in its caller */
  int32_t max_ahead;   /* maximum number of batches that are ready or being prepared, at least 1 */
  int32_t store_features; /* make the store's features, as dense rows, the first vertex attribute */
  int32_t num_vertex_attributes;
  const gnomon_dl_tensor* vertex_attributes; /* first dimension: vertices */
  int32_t num_edge_attributes;
  const gnomon_dl_tensor* edge_attributes; /* first dimension: edge ids */
  const int32_t* cache_slots; /* for each vertex: the slot of its first attribute in the caller's cache, or
                                 -1. Cached rows are not gathered. NULL: no cache */
} gnomon_epoch_input;

/* Batch b depends on graph, sampling, epoch, b and its seeds only, not on the number of threads. */
typedef struct gnomon_epoch gnomon_epoch;
GNOMON_API gnomon_status gnomon_epoch_begin(gnomon_loader* loader, const gnomon_epoch_input* input,
                                            gnomon_epoch** epoch);
/* Stops and joins the epoch's threads, and frees the epoch. */
GNOMON_API void gnomon_epoch_free(gnomon_epoch* epoch);

/* A mini-batch. It owns its tensors. To take a tensor over, copy its pointer and set the field to NULL; then
 * the caller must call the tensor's deleter. All indices are int64. Vertices are numbered in the order of
 * their first appearance, seeds first; edges are in the order of the hops. */
typedef struct gnomon_batch {
  int64_t index;                    /* position in the epoch */
  int64_t num_seeds;                /* vertices that hop 0 expands */
  int32_t num_hops;                 /* 0 for induced subgraphs, whose edges have no hop */
  const int64_t* num_sampled_nodes; /* num_hops + 1: the seeds, then the vertices that each hop added */
  const int64_t* num_sampled_edges; /* num_hops */
  gnomon_dl_managed* vertices;      /* ids in the graph */
  gnomon_dl_managed* edges;         /* 2 x edges: local ids of source and destination */
  gnomon_dl_managed* edge_ids;
  gnomon_dl_managed* trees;     /* of disjoint subgraphs: the seed of each vertex; else NULL */
  gnomon_dl_managed* endpoints; /* of links: local ids of all sources, then of all destinations, each followed
                                   by its negatives; else NULL */
  gnomon_dl_managed** vertex_attributes; /* with a cache the first has only the gathered rows */
  gnomon_dl_managed** edge_attributes;
  gnomon_dl_managed* gathered_positions; /* local ids of the gathered rows; NULL without a cache */
  gnomon_dl_managed* cached_positions;   /* local ids of the cached rows; NULL without a cache */
  gnomon_dl_managed* cached_slots;       /* cache slots of the cached rows; NULL without a cache */
  double sample_s;                       /* time spent on seeds, sampling and edges */
  double gather_s;                       /* time spent on gathering attributes */
} gnomon_batch;

/* Waits up to timeout_s for the next batch in order. Returns GNOMON_PENDING on a timeout, and GNOMON_END
 * after the last batch. An error ends the epoch. */
GNOMON_API gnomon_status gnomon_epoch_next(gnomon_epoch* epoch, double timeout_s, gnomon_batch** batch);
/* Frees the batch and the tensors that were not taken. */
GNOMON_API void gnomon_batch_free(gnomon_batch* batch);

/* ---- Memory ---- */

/* A pool that reuses the memory of deleted tensors: mapping large blocks anew can cost more than the
 * operations that write them. Thread-safe. */
typedef struct gnomon_pool gnomon_pool;
/* `max_kept`: maximum number of free blocks to keep. */
GNOMON_API gnomon_status gnomon_pool_new(int32_t max_kept, gnomon_pool** pool);
/* Tensors that still exist stay valid. */
GNOMON_API void gnomon_pool_free(gnomon_pool* pool);
/* Makes an uninitialised C-contiguous fp32 tensor. The caller must call its deleter. */
GNOMON_API gnomon_status gnomon_tensor_new(gnomon_pool* pool, int32_t ndim, const int64_t* shape,
                                           gnomon_dl_managed** tensor);

/* ---- Sparse operations, in fp32 on row-major arrays ---- */

/* A sparse matrix in CSR form: row r has entries in columns[indptr[r]] … columns[indptr[r + 1] - 1]. */
typedef struct gnomon_rows {
  int64_t num_rows;
  int64_t num_columns;
  int64_t num_entries;
  const int64_t* indptr;  /* num_rows + 1 */
  const int32_t* columns; /* num_entries */
  const int32_t* edges;   /* the edge that each entry belongs to; NULL: entry e is edge e */
} gnomon_rows;

/* Writes indptr (num_destinations + 1) and columns (num_edges) of the matrix with one row per destination.
 * The edges must be sorted by destination. */
GNOMON_API gnomon_status gnomon_rows_from_edges(int64_t num_sources, int64_t num_destinations,
                                                int64_t num_edges, const int64_t* sources,
                                                const int64_t* destinations, int64_t* indptr,
                                                int32_t* columns);
/* Replaces the diagonal: writes the matrix whose rows each end with exactly one diagonal entry: indptr
 * (num_rows + 1) and columns (up to num_entries + num_rows). */
GNOMON_API gnomon_status gnomon_rows_with_loops(const gnomon_rows* rows, int64_t* indptr, int32_t* columns);
/* Writes the matrix whose row 2r is row r and whose row 2r + 1 has a single entry, in column r: indptr (2 ·
 * num_rows + 1) and columns (num_entries + num_rows). Its product with x interleaves each vertex's aggregate
 * and its own row, as GraphSAGE concatenates them. */
GNOMON_API gnomon_status gnomon_rows_interleaved(const gnomon_rows* rows, int64_t* indptr, int32_t* columns);
/* Writes the transpose: indptr (num_columns + 1), columns and edges (num_entries). */
GNOMON_API gnomon_status gnomon_rows_transpose(const gnomon_rows* rows, int64_t* indptr, int32_t* columns,
                                               int32_t* edges);

/* y[r,:] = row_scales[r] · sum of column_scales[c] · x[c,:] over r's entries. NULL scales are ones. */
GNOMON_API gnomon_status gnomon_spmm(const gnomon_rows* rows, const gnomon_threads* threads,
                                     const float* row_scales, const float* column_scales, const float* x,
                                     int64_t width, float* y);
/* gnomon_spmm with a fused gather: x[c,:] is row vertices[c] of `features`, or row c if `vertices` is NULL.
 * `features` is two-dimensional, C-contiguous, and fp32, fp16 or bf16. */
GNOMON_API gnomon_status gnomon_spmm_stored(const gnomon_rows* rows, const gnomon_threads* threads,
                                            const float* row_scales, const gnomon_dl_tensor* features,
                                            const int64_t* vertices, float* y);
/* y[r,h,:] = sum of weights[e,h] · x[c,h,:] over r's entries, which belong to edges e. */
GNOMON_API gnomon_status gnomon_spmm_weighted(const gnomon_rows* rows, const gnomon_threads* threads,
                                              int64_t heads, int64_t width, const float* weights,
                                              const float* x, float* y);
/* y[r,h] = sum of values[e,h] over the edges of r's entries. */
GNOMON_API gnomon_status gnomon_sum_edges(const gnomon_rows* rows, const gnomon_threads* threads,
                                          int64_t heads, const float* values, float* y);
/* y[e,h] = row_scores[r,h] + column_scores[c,h]. */
GNOMON_API gnomon_status gnomon_sddmm_add(const gnomon_rows* rows, const gnomon_threads* threads,
                                          int64_t heads, const float* row_scores, const float* column_scores,
                                          float* y);
/* y[e,h] = dot product of row_values[r,h,:] and column_values[c,h,:]. */
GNOMON_API gnomon_status gnomon_sddmm_dot(const gnomon_rows* rows, const gnomon_threads* threads,
                                          int64_t heads, int64_t width, const float* row_values,
                                          const float* column_values, float* y);
/* Softmax of each row's edges, and its gradient with respect to the logits. */
GNOMON_API gnomon_status gnomon_edge_softmax(const gnomon_rows* rows, const gnomon_threads* threads,
                                             int64_t heads, const float* logits, float* y);
GNOMON_API gnomon_status gnomon_edge_softmax_backward(const gnomon_rows* rows, const gnomon_threads* threads,
                                                      int64_t heads, const float* softmax,
                                                      const float* gradient, float* y);

/* ---- Commands ---- */

/* Called by the waiting thread, at least ten times a second, with the current step and its finished and total
 * items (0: unknown). A return value other than 0 cancels the command. */
typedef int32_t (*gnomon_progress)(void* data, const char* step, int64_t done, int64_t total);

/* Runs a command of the program gnomon in a process of its own, because SimGrid allows one engine per process
 * and searches fork. The request is
 *   {"command": "tune", "arguments": [PROFILE], "options": {"budget": 200, "front": true}}
 * with the arguments and options of `gnomon tune --help`. An option's value is a string, a number, true for a
 * flag, or a list of strings for a repeated option. Instead of a file's path, a document (an object) may be
 * given. The result is the document that the command prints with --json; free it with gnomon_text_free. The
 * commands profile and validate, and those that train, need a program that was built with LibTorch.
 *
 * `program` is the path of the program; NULL: $GNOMON_PROGRAM, else bin/gnomon in the directory of this
 * library or its parent. `progress` may be NULL. */
GNOMON_API gnomon_status gnomon_run(const char* program, const char* request, gnomon_progress progress,
                                    void* data, char** result);
GNOMON_API void gnomon_text_free(char* text);

#ifdef __cplusplus
}
#endif

#endif

/* The C API of gnomon: prepares mini-batches of neighbour sampling for any language and framework.
 *
 * Plain C. Handles are opaque and freed by their gnomon_*_free function, which accepts NULL; they may be
 * freed in any order. Functions that can fail return a gnomon_status and leave a message in
 * gnomon_last_error(). No exception leaves the library. Arrays that are passed in are C-contiguous and in the
 * memory of the host. Unless said otherwise a function may be called from any thread, but only one at a time
 * for one handle.
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

/* Changes whenever a declaration below changes incompatibly. */
#define GNOMON_API_VERSION 1

typedef int32_t gnomon_status;
enum {
  GNOMON_OK = 0,
  GNOMON_FAILURE = 1,       /* of the system: memory, threads, files */
  GNOMON_INVALID_INPUT = 2, /* the message names the argument */
  GNOMON_END = 3,           /* no batch is left */
  GNOMON_PENDING = 4,       /* no batch is ready yet */
  GNOMON_FORKED = 5,        /* the handle belongs to the parent process */
  GNOMON_CANCELLED = 6      /* by a callback */
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
/* What went wrong in the last call of this thread that failed: one line of UTF-8, valid until the next call.
 */
GNOMON_API const char* gnomon_last_error(void);
/* The number of cores that this process may use. */
GNOMON_API int32_t gnomon_usable_cores(void);
/* The number of physical cores among them. */
GNOMON_API int32_t gnomon_physical_cores(void);

/* ---- Graphs ---- */

/* A graph's structure, in memory. */
typedef struct gnomon_graph gnomon_graph;

/* Makes a graph from `num_edges` edges from sources[e] to destinations[e], in any order; a vertex aggregates
 * from the sources of its edges. Repeated edges count. `weights` (finite, not negative) is NULL for uniform
 * draws. Nothing is referenced after the call. */
GNOMON_API gnomon_status gnomon_graph_from_edges(int64_t num_vertices, int64_t num_edges,
                                                 const int64_t* sources, const int64_t* destinations,
                                                 const float* weights, gnomon_graph** graph);
/* Makes a graph from its CSC form: vertex v aggregates from sources[indptr[v]] … sources[indptr[v + 1] - 1].
 * An edge's id is edge_ids[e], or e if edge_ids is NULL. */
GNOMON_API gnomon_status gnomon_graph_from_csc(int64_t num_vertices, int64_t num_edges, const int64_t* indptr,
                                               const int64_t* sources, const int64_t* edge_ids,
                                               const float* weights, gnomon_graph** graph);
/* Opens a store on disk. Its features and labels stay mapped files. `weighted`: draw by the store's edge
 * weights. */
GNOMON_API gnomon_status gnomon_graph_open(const char* directory, int32_t weighted, gnomon_graph** graph);
GNOMON_API void gnomon_graph_free(gnomon_graph* graph);
GNOMON_API int64_t gnomon_graph_num_vertices(const gnomon_graph* graph);
GNOMON_API int64_t gnomon_graph_num_edges(const gnomon_graph* graph);

/* What a store has beside its structure. Views are valid while the graph lives and not to be written to. */
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

/* What a loader samples. All zeros but num_hops, fanouts and threads_per_batch is a good default. */
typedef struct gnomon_sampling {
  int32_t num_hops;
  const int32_t* fanouts; /* of each hop from the seeds outwards: 0 to 512, or -1 for all neighbours */
  uint64_t seed;
  int32_t expansion;         /* once: in the hop after its first appearance; or every vertex in every hop */
  int32_t replace;           /* draw with replacement */
  int32_t disjoint;          /* every seed has a subgraph of its own */
  int32_t subgraph;          /* the sampled edges, or all edges between the sampled vertices */
  int32_t threads_per_batch; /* threads that share the work of each batch */
} gnomon_sampling;

typedef struct gnomon_loader gnomon_loader;
GNOMON_API gnomon_status gnomon_loader_new(const gnomon_graph* graph, const gnomon_sampling* sampling,
                                           gnomon_loader** loader);
GNOMON_API void gnomon_loader_free(gnomon_loader* loader);

/* How memory is locked, so that a device can copy from it beside other work. The functions return 0 if they
 * succeed and may be called from any thread; cudaHostRegister and cudaHostUnregister are such functions. */
typedef struct gnomon_page_lock {
  int32_t (*lock)(void* memory, uint64_t bytes, uint32_t flags);
  int32_t (*unlock)(void* memory);
  uint32_t flags; /* passed to `lock` */
} gnomon_page_lock;
/* Locks the memory of the loader's large tensors, from those of the next batch on. Memory that cannot be
 * locked is used as it is. The functions must stay callable as long as the loader or one of its tensors
 * lives. */
GNOMON_API gnomon_status gnomon_loader_lock_pages(gnomon_loader* loader, const gnomon_page_lock* lock);

/* Writes a random permutation of 0 … count - 1 to `order`, which depends on seed and epoch only. */
GNOMON_API void gnomon_epoch_order(int64_t count, uint64_t seed, uint64_t epoch, int64_t* order);

/* ---- Epochs ---- */

/* The mini-batches of an epoch and what is gathered for them. The arrays must live as long as the epoch. */
typedef struct gnomon_epoch_input {
  uint64_t epoch;
  int64_t num_batches;
  const int64_t* batch_begins; /* num_batches + 1 positions in `seeds` */
  const int64_t* seeds;        /* vertices, or the sources of links */
  const int64_t* link_ends;    /* the destinations of links; NULL for vertices */
  int32_t negatives;           /* of links: pairs, or destinations for each source */
  double negatives_per_link;
  int64_t first_batch; /* where to begin */
  int32_t num_workers; /* threads that prepare batches ahead; 0: the caller of gnomon_epoch_next prepares */
  int32_t max_ahead;   /* batches that are prepared or under way at any time, at least 1 */
  int32_t store_features; /* the first vertex attribute of a batch is its rows of the store's features, in
                             dense form */
  int32_t num_vertex_attributes;
  const gnomon_dl_tensor* vertex_attributes; /* first dimension: vertices */
  int32_t num_edge_attributes;
  const gnomon_dl_tensor* edge_attributes; /* first dimension: edge ids */
} gnomon_epoch_input;

/* Batch b is a function of graph, sampling, epoch, b and its seeds only, whatever the number of threads. */
typedef struct gnomon_epoch gnomon_epoch;
GNOMON_API gnomon_status gnomon_epoch_begin(gnomon_loader* loader, const gnomon_epoch_input* input,
                                            gnomon_epoch** epoch);
/* Stops the epoch's threads and waits for them. */
GNOMON_API void gnomon_epoch_free(gnomon_epoch* epoch);

/* A mini-batch. A tensor belongs to the batch until its pointer is taken, which means set to NULL; from then
 * on its deleter must be called. All indices are int64. Vertices are numbered in the order of their first
 * appearance, seeds first; edges are in the order of the hops. */
typedef struct gnomon_batch {
  int64_t index;                    /* in the epoch */
  int64_t num_seeds;                /* vertices that hop 0 expands */
  int32_t num_hops;                 /* 0 for induced subgraphs, whose edges have no hop */
  const int64_t* num_sampled_nodes; /* num_hops + 1: the seeds, then those that each hop added */
  const int64_t* num_sampled_edges; /* num_hops */
  gnomon_dl_managed* vertices;      /* ids in the graph */
  gnomon_dl_managed* edges;         /* 2 x edges: local ids of source and destination */
  gnomon_dl_managed* edge_ids;
  gnomon_dl_managed* trees;     /* of disjoint subgraphs: the seed of each vertex; else NULL */
  gnomon_dl_managed* endpoints; /* of links: local ids of all sources, then of all destinations, each followed
                                   by its negatives; else NULL */
  gnomon_dl_managed** vertex_attributes;
  gnomon_dl_managed** edge_attributes;
  double sample_s; /* time that the preparation took: sampling and writing edges */
  double gather_s; /* gathering attributes */
} gnomon_batch;

/* Waits up to timeout_s for the next batch in order. GNOMON_END after the last one. After an error the epoch
 * ends. */
GNOMON_API gnomon_status gnomon_epoch_next(gnomon_epoch* epoch, double timeout_s, gnomon_batch** batch);
/* Frees the batch and the tensors that were not taken. */
GNOMON_API void gnomon_batch_free(gnomon_batch* batch);

/* ---- Memory ---- */

/* Memory of tensors that is kept when they are deleted, for the next ones: large blocks of new memory cost
 * more than many operations that write them. Thread-safe. */
typedef struct gnomon_pool gnomon_pool;
/* `max_kept`: blocks that are kept at most. */
GNOMON_API gnomon_status gnomon_pool_new(int32_t max_kept, gnomon_pool** pool);
/* The pool's memory lives as long as its tensors. */
GNOMON_API void gnomon_pool_free(gnomon_pool* pool);
/* Makes a C-contiguous fp32 tensor of any content. Its deleter must be called. */
GNOMON_API gnomon_status gnomon_tensor_new(gnomon_pool* pool, int32_t ndim, const int64_t* shape,
                                           gnomon_dl_managed** tensor);

/* ---- Sparse operations, in fp32 on row-major arrays ---- */

/* A sparse matrix in CSR form: row r has the columns columns[indptr[r]] … columns[indptr[r + 1] - 1]. */
typedef struct gnomon_rows {
  int64_t num_rows;
  int64_t num_columns;
  int64_t num_entries;
  const int64_t* indptr;  /* num_rows + 1 */
  const int32_t* columns; /* num_entries */
  const int32_t* edges;   /* the edge that each entry belongs to; NULL: entry e is edge e */
} gnomon_rows;

/* The threads of an operation: `run` calls body(data) on up to `count` threads at once, the caller's among
 * them, and returns when all have returned. This is libgomp's GOMP_parallel, so that operations can use the
 * threads of the framework that calls them. NULL, or a NULL `run`: the caller's alone. */
typedef struct gnomon_threads {
  void (*run)(void (*body)(void*), void* data, unsigned count, unsigned flags);
  int32_t count;
} gnomon_threads;

/* Writes indptr (num_destinations + 1) and columns (num_edges) of the matrix whose rows are destinations. The
 * edges must be sorted by destination. */
GNOMON_API gnomon_status gnomon_rows_from_edges(int64_t num_sources, int64_t num_destinations,
                                                int64_t num_edges, const int64_t* sources,
                                                const int64_t* destinations, int64_t* indptr,
                                                int32_t* columns);
/* Writes the matrix with exactly one entry on the diagonal of each row, at its end: indptr (num_rows + 1) and
 * columns (up to num_entries + num_rows). */
GNOMON_API gnomon_status gnomon_rows_with_loops(const gnomon_rows* rows, int64_t* indptr, int32_t* columns);
/* Writes the matrix whose row 2r is row r and whose row 2r + 1 has one entry, in column r: indptr (2 ·
 * num_rows + 1) and columns (num_entries + num_rows). Its product with x has what a vertex aggregates beside
 * its own row. */
GNOMON_API gnomon_status gnomon_rows_interleaved(const gnomon_rows* rows, int64_t* indptr, int32_t* columns);
/* Writes the transpose: indptr (num_columns + 1), columns and edges (num_entries). */
GNOMON_API gnomon_status gnomon_rows_transpose(const gnomon_rows* rows, int64_t* indptr, int32_t* columns,
                                               int32_t* edges);

/* y[r,:] = row_scales[r] · sum of column_scales[c] · x[c,:] over r's entries. Scales that are NULL are ones.
 */
GNOMON_API gnomon_status gnomon_spmm(const gnomon_rows* rows, const gnomon_threads* threads,
                                     const float* row_scales, const float* column_scales, const float* x,
                                     int64_t width, float* y);
/* The same on rows that were not gathered: x[c,:] is row vertices[c] of `features`, or row c if `vertices` is
 * NULL. `features` is C-contiguous, fp32, fp16 or bf16, and of two dimensions. */
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

/* Called by the thread that waits, at least ten times a second: the step, and its finished and total items
 * (0: unknown). Anything but 0 cancels the command. */
typedef int32_t (*gnomon_progress)(void* data, const char* step, int64_t done, int64_t total);

/* Runs a command of the program gnomon, in a process of its own: SimGrid's engine is one a process, and
 * searches fork. The request is
 *   {"command": "tune", "arguments": [PROFILE], "options": {"budget": 200, "front": true}}
 * with the arguments and options of `gnomon tune --help`. An option is a string, a number, true for a flag,
 * or a list of strings for an option that is repeated. A document (an object) stands for a file that holds
 * it. The result is the document that the command prints with --json; free it with gnomon_text_free. profile,
 * validate and what trains need a program that was built with LibTorch.
 *
 * `program` is the program's file; NULL: $GNOMON_PROGRAM, else bin/gnomon beside this library or above it.
 * `progress` may be NULL. */
GNOMON_API gnomon_status gnomon_run(const char* program, const char* request, gnomon_progress progress,
                                    void* data, char** result);
GNOMON_API void gnomon_text_free(char* text);

#ifdef __cplusplus
}
#endif

#endif

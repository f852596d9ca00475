/* A scripted libnvidia-ml.so.1: what the tests load in place of the driver's own, through the real nvidia-ml-py.
 *
 * FAKE_NVML names the scenario file, read at each nvmlInit that finds the library closed. FAKE_NVML_CALLS names a
 * file that gets a line a call: seconds, thread id, function, device (-1: none), result. Format and faults: tests/nvml_fixture.py.
 * Built with -DOLD it lacks the functions that drivers of 2020 did not have. Struct layouts are those of the public nvml.h.
 */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, TIMEOUT = 10,
       VERSION_MISMATCH = 25, UNKNOWN = 999 };
enum { MEMORY_V2 = 0x02000028, TEMPERATURE_V1 = 0x0100000c };
#define MIB 1048576ULL
#define NOT_AVAILABLE (~0ULL)
#define FEW 16

typedef struct { double low, high, period; int code; } Number;
typedef struct { unsigned pid; char kind; bool known; Number used; double from, until, instance, share; } Process;
typedef struct { char function[80]; int code, gpu; long after, every, calls; double from, until, delay, count, crash; bool hangs; } Fault;
typedef struct { char uuid[96], name[96]; Number total, used; double instance; } Mig;
typedef struct { double number, from; bool told; } Xid;
typedef struct {
    char name[96], uuid[96], pci[40];
    unsigned id;
    unsigned long long total_bytes, used_bytes;
    Number major, minor, total, used, reserved, utilization, temperature, power, power_limit, throttle, display, mode, number, mig, persistence, recovery, fabric, generation, width;
    Number memory_temperature, slowdown, margin, received, sent, sm_activity, tensor_activity;
    Xid xids[FEW];
    int xid_count;
    Process *processes;
    int process_count, mig_count;
    Mig migs[FEW];
} Gpu;

static Gpu gpus[64];
static Fault faults[64];
static int gpu_count, fault_count, opened;
static unsigned told_count; /* what nvmlDeviceGetCount says where it is not the truth */
static bool tells_count;
static __thread double wanted; /* the count that the fault of this call puts in a list's answer; -1: none */
static bool wide_processes;
static char driver[80], library[80];
static int cuda;
static struct timespec began;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- the scenario */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - began.tv_sec) + (double)(now.tv_nsec - began.tv_nsec) / 1e9;
}

static Number number(const char *words)
{
    Number it = {0};
    if (words[0] == '-' && !words[1]) it.code = NOT_SUPPORTED;
    else if (words[0] == '!') it.code = atoi(words + 1);
    else it.low = strtod(words, NULL);
    const char *dots = strstr(words, "..");
    if (dots && sscanf(dots + 2, "%lf/%lf", &it.high, &it.period) == 2) it.low = atof(words);
    return it;
}

static double now_of(const Number *it)
{
    if (it->period <= 0) return it->low;
    double turn = seconds() / it->period;
    turn -= (double)(long)turn;
    return it->low + (it->high - it->low) * (turn < 0.5 ? 2 * turn : 2 - 2 * turn);
}

static void option(const char *word, const char *name, double *into)
{
    size_t length = strlen(name);
    if (!strncmp(word, name, length) && word[length] == '=') *into = atof(word + length + 1);
}

static void add_fault(char *words, int gpu)
{
    double after = 0, every = 1, from = 0, until = 1e18, delay = 0, count = -1, crash = 0, hangs = 0;
    Fault *it = &faults[fault_count++];
    char *rest = NULL, *function = strtok_r(words, " ", &rest), *code = strtok_r(NULL, " ", &rest);
    for (char *word; (word = strtok_r(NULL, " ", &rest));) {
        option(word, "after", &after); option(word, "every", &every); option(word, "from", &from);
        option(word, "until", &until); option(word, "delay", &delay);
        option(word, "count", &count); option(word, "crash", &crash); option(word, "hangs", &hangs);
    }
    *it = (Fault){.code = atoi(code), .gpu = gpu, .after = (long)after, .every = (long)every, .from = from, .until = until, .delay = delay,
                  .count = count, .crash = crash, .hangs = hangs != 0};
    snprintf(it->function, sizeof it->function, "%s", function);
}

static void add_process(Gpu *gpu, char *words)
{
    Process it = {.until = 1e18, .instance = 4294967295.0};
    char *rest = NULL;
    it.pid = !strncmp(words, "self", 4) ? (unsigned)getpid() : (unsigned)strtoul(words, NULL, 10);
    strtok_r(words, " ", &rest);
    it.kind = strtok_r(NULL, " ", &rest)[0];
    char *used = strtok_r(NULL, " ", &rest);
    it.known = strcmp(used, "-") != 0;
    it.used = number(used);
    for (char *word; (word = strtok_r(NULL, " ", &rest));) {
        option(word, "from", &it.from); option(word, "until", &it.until); option(word, "instance", &it.instance);
        option(word, "share", &it.share);
    }
    gpu->processes = realloc(gpu->processes, sizeof it * (size_t)(gpu->process_count + 1));
    gpu->processes[gpu->process_count++] = it;
}

static void add_mig(Gpu *gpu, char *words)
{
    Mig it = {.total = {.low = 10240}, .instance = gpu->mig_count + 1};
    char *rest = NULL;
    double total = it.total.low, used = 0;
    snprintf(it.uuid, sizeof it.uuid, "%s", strtok_r(words, " ", &rest));
    for (char *word; (word = strtok_r(NULL, " ", &rest));) {
        option(word, "memory", &total); option(word, "used", &used); option(word, "instance", &it.instance);
    }
    it.total.low = total, it.used.low = used;
    snprintf(it.name, sizeof it.name, "%.60s MIG %d", gpu->name, gpu->mig_count);
    gpu->migs[gpu->mig_count++] = it;
}

static void set_system(const char *key, char *value)
{
    int major, minor;
    if (!strcmp(key, "driver")) snprintf(driver, sizeof driver, "%s", value), snprintf(library, sizeof library, "13.%s", value);
    else if (!strcmp(key, "nvml")) snprintf(library, sizeof library, "%s", value);
    else if (!strcmp(key, "cuda") && sscanf(value, "%d.%d", &major, &minor) == 2) cuda = major * 1000 + minor * 10;
    else if (!strcmp(key, "count")) told_count = (unsigned)strtoul(value, NULL, 10), tells_count = true;
    else if (!strcmp(key, "wide_processes")) wide_processes = atoi(value) != 0;
    else fprintf(stderr, "fake_nvml: unknown system key %s\n", key);
}

static void set_gpu(Gpu *gpu, const char *key, char *value)
{
    struct { const char *key; Number *into; } numbers[] = {
        {"memory", &gpu->total}, {"used", &gpu->used}, {"reserved", &gpu->reserved}, {"utilization", &gpu->utilization},
        {"temperature", &gpu->temperature}, {"power", &gpu->power}, {"power_limit", &gpu->power_limit}, {"throttle", &gpu->throttle},
        {"display", &gpu->display}, {"compute_mode", &gpu->mode}, {"minor", &gpu->number}, {"mig", &gpu->mig},
        {"persistence", &gpu->persistence}, {"recovery", &gpu->recovery}, {"fabric", &gpu->fabric},
        {"link_generation", &gpu->generation}, {"link_width", &gpu->width},
        {"memory_temperature", &gpu->memory_temperature}, {"slowdown", &gpu->slowdown}, {"margin", &gpu->margin},
        {"received", &gpu->received}, {"sent", &gpu->sent}, {"sm_activity", &gpu->sm_activity}, {"tensor_activity", &gpu->tensor_activity}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(key, numbers[i].key)) { *numbers[i].into = number(value); return; }
    if (!strcmp(key, "name")) snprintf(gpu->name, sizeof gpu->name, "%s", value);
    else if (!strcmp(key, "memory_bytes")) gpu->total_bytes = strtoull(value, NULL, 10), gpu->total.low = -1;
    else if (!strcmp(key, "used_bytes")) gpu->used_bytes = strtoull(value, NULL, 10), gpu->used.low = -1;
    else if (!strcmp(key, "uuid")) snprintf(gpu->uuid, sizeof gpu->uuid, "%s", value);
    else if (!strcmp(key, "pci")) snprintf(gpu->pci, sizeof gpu->pci, "%s", value);
    else if (!strcmp(key, "pci_id")) gpu->id = (unsigned)(strtoul(strchr(value, ':') + 1, NULL, 16) << 16 | strtoul(value, NULL, 16));
    else if (!strcmp(key, "capability")) {
        gpu->major = number(value); gpu->minor = number(strchr(value, '.') ? strchr(value, '.') + 1 : value);
    } else if (!strcmp(key, "process")) add_process(gpu, value);
    else if (!strcmp(key, "mig_device") && gpu->mig_count < FEW) add_mig(gpu, value);
    else if (!strcmp(key, "xid") && gpu->xid_count < FEW) {
        Xid it = {.number = atof(value)};
        char *rest = strchr(value, ' ');
        if (rest) option(rest + 1, "from", &it.from);
        gpu->xids[gpu->xid_count++] = it;
    }
    else fprintf(stderr, "fake_nvml: unknown device key %s\n", key);
}

static void new_gpu(void)
{
    Gpu *gpu = &gpus[gpu_count];
    free(gpu->processes);
    memset(gpu, 0, sizeof *gpu);
    snprintf(gpu->name, sizeof gpu->name, "NVIDIA GeForce RTX 4090");
    snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-00000000-0000-4000-8000-%012d", gpu_count);
    snprintf(gpu->pci, sizeof gpu->pci, "00000000:%02X:00.0", gpu_count + 1);
    gpu->id = 0x268410de;
    gpu->major = number("8"); gpu->minor = number("9"); gpu->total = number("24564"); gpu->reserved = number("349");
    gpu->temperature = number("40"); gpu->power = number("50"); gpu->power_limit = number("450");
    gpu->number.low = gpu_count++;
    gpu->mig = number("-");
    gpu->generation = number("4"); gpu->width = number("16");
    gpu->memory_temperature = gpu->margin = gpu->received = gpu->sent = gpu->sm_activity = gpu->tensor_activity = number("-");
    gpu->slowdown = number("90");
}

static char *trimmed(char *words)
{
    while (*words == ' ' || *words == '\t') words++;
    char *end = words + strlen(words);
    while (end > words && strchr(" \t\r\n", end[-1])) *--end = 0;
    return words;
}

static void read_scenario(void)
{
    char line[512];
    FILE *file = fopen(getenv("FAKE_NVML") ? getenv("FAKE_NVML") : "/dev/null", "r");
    gpu_count = fault_count = 0;
    wide_processes = tells_count = false;
    cuda = 13000;
    set_system("driver", strcpy(line, "580.95.05"));
    clock_gettime(CLOCK_MONOTONIC, &began);
    while (file && fgets(line, sizeof line, file)) {
        char *comment = strchr(line, '#'), *equals = strchr(line, '=');
        if (comment) *comment = 0;
        if (!strcmp(trimmed(line), "[gpu]")) { new_gpu(); continue; }
        if (!equals || (comment && comment < equals)) continue;
        *equals = 0;
        char *key = trimmed(line), *value = trimmed(equals + 1);
        if (!strcmp(key, "fault")) add_fault(value, gpu_count - 1);
        else if (gpu_count) set_gpu(&gpus[gpu_count - 1], key, value);
        else set_system(key, value);
    }
    if (file) fclose(file);
}

/* ---- every call begins here */

static void note(const char *function, int gpu, int code)
{
    const char *path = getenv("FAKE_NVML_CALLS");
    FILE *calls = path ? fopen(path, "a") : NULL;
    if (!calls) return;
    fprintf(calls, "%.6f %ld %s %d %d\n", seconds(), (long)syscall(SYS_gettid), function, gpu, code);
    fclose(calls);
}

static int begin(const char *function, int gpu, bool before_init)
{
    int code = before_init || opened ? SUCCESS : UNINITIALIZED;
    double delay = 0, crash = 0;
    bool hangs = false;
    wanted = -1;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < fault_count; i++) {
        Fault *it = &faults[i];
        if ((it->gpu >= 0 && it->gpu != gpu) || fnmatch(it->function, function, 0)) continue;
        if (seconds() < it->from || seconds() >= it->until || ++it->calls <= it->after) continue;
        if ((it->calls - it->after - 1) % it->every) continue;
        delay += it->delay;
        hangs |= it->hangs;
        if (it->crash) crash = it->crash;
        if (it->count >= 0) wanted = it->count;
        if (!code) code = it->code;
    }
    note(function, gpu, code);
    pthread_mutex_unlock(&lock);
    if (delay > 0) usleep((useconds_t)(delay * 1000));
    if (crash == SIGSEGV) *(volatile int *)8 = 0;
    if (crash == SIGABRT) abort();
    if (crash) raise((int)crash);
    while (hangs) pause();
    return code;
}

static int place(const void *handle)
{
    for (int i = 0; i < gpu_count; i++) {
        if (handle == &gpus[i]) return i;
        for (int j = 0; j < gpus[i].mig_count; j++) if (handle == &gpus[i].migs[j]) return i;
    }
    return -1;
}

static int copied(const char *words, char *into, unsigned size)
{
    if (words[0] == '!') return atoi(words + 1);
    if (strlen(words) >= size) return INSUFFICIENT_SIZE;
    strcpy(into, words);
    return SUCCESS;
}

static int unsigned_of(const Number *it, double scale, unsigned *into)
{
    *into = it->code ? 0 : (unsigned)(now_of(it) * scale + 0.5);
    return it->code;
}

#define BEGIN_ALWAYS() do { int code_ = begin(__func__, -1, true); if (code_) return code_; } while (0)
#define BEGIN_SYSTEM() do { int code_ = begin(__func__, -1, false); if (code_) return code_; } while (0)
#define BEGIN(handle) do { int code_ = begin(__func__, place(handle), false); if (code_) return code_; \
                           if (place(handle) < 0) return INVALID_ARGUMENT; } while (0)

/* ---- the library */

static int start(const char *function)
{
    if (!opened) read_scenario();
    int code = begin(function, -1, true);
    if (!code) opened++;
    return code;
}
int nvmlInit_v2(void) { return start(__func__); }
int nvmlInitWithFlags(unsigned flags) { (void)flags; return start(__func__); }
int nvmlShutdown(void) { BEGIN_SYSTEM(); opened--; return SUCCESS; }

const char *nvmlErrorString(int code)
{
    switch (code) {
    case SUCCESS: return "Success";
    case 9: return "Driver Not Loaded";
    case 15: return "GPU is lost";
    case 18: return "Driver/library version mismatch";
    default: return "Unknown Error";
    }
}

int nvmlSystemGetDriverVersion(char *into, unsigned size) { BEGIN_SYSTEM(); return copied(driver, into, size); }
int nvmlSystemGetNVMLVersion(char *into, unsigned size) { BEGIN_ALWAYS(); return copied(library, into, size); }
int nvmlSystemGetCudaDriverVersion(int *into) { BEGIN_ALWAYS(); *into = cuda; return SUCCESS; }
int nvmlSystemGetCudaDriverVersion_v2(int *into) { BEGIN_ALWAYS(); *into = cuda; return SUCCESS; }
int nvmlDeviceGetCount_v2(unsigned *into) { BEGIN_SYSTEM(); *into = tells_count ? told_count : (unsigned)gpu_count; return SUCCESS; }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **into)
{
    int code = begin(__func__, (int)index, false);
    if (code || index >= (unsigned)gpu_count) return code ? code : INVALID_ARGUMENT;
    *into = &gpus[index];
    return SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *wanted, void **into)
{
    const char *rest = strchr(wanted, ':'); /* 0000:01:00.0 and 00000000:01:00.0 are the same device */
    int found = 0;
    while (rest && found < gpu_count && strcasecmp(strchr(gpus[found].pci, ':'), rest)) found++;
    int code = begin(__func__, rest && found < gpu_count ? found : -1, false);
    if (code || !rest || found >= gpu_count) return code ? code : NOT_FOUND;
    *into = &gpus[found];
    return SUCCESS;
}

static Mig *instance_of(void *handle)
{
    int found = place(handle);
    return found < 0 || handle == &gpus[found] ? NULL : handle;
}

int nvmlDeviceGetName(void *handle, char *into, unsigned size)
{
    BEGIN(handle);
    Mig *instance = instance_of(handle);
    return copied(instance ? instance->name : ((Gpu *)handle)->name, into, size);
}
int nvmlDeviceGetUUID(void *handle, char *into, unsigned size)
{
    BEGIN(handle);
    Gpu *gpu = &gpus[place(handle)];
    return copied(handle == gpu ? gpu->uuid : ((Mig *)handle)->uuid, into, size);
}
int nvmlDeviceGetIndex(Gpu *gpu, unsigned *into) { BEGIN(gpu); *into = (unsigned)place(gpu); return SUCCESS; }
int nvmlDeviceGetMinorNumber(Gpu *gpu, unsigned *into) { BEGIN(gpu); return unsigned_of(&gpu->number, 1, into); }
int nvmlDeviceGetDisplayActive(Gpu *gpu, unsigned *into) { BEGIN(gpu); return unsigned_of(&gpu->display, 1, into); }
int nvmlDeviceGetComputeMode(Gpu *gpu, unsigned *into) { BEGIN(gpu); return unsigned_of(&gpu->mode, 1, into); }
typedef struct { unsigned char cluster[16]; int status; unsigned clique; unsigned char state; } Fabric;
int nvmlDeviceGetGpuFabricInfo(Gpu *gpu, Fabric *into)
{
    unsigned state;
    BEGIN(gpu);
    int code = unsigned_of(&gpu->fabric, 1, &state);
    memset(into, 0, sizeof *into);
    into->state = (unsigned char)state;
    return code;
}
int nvmlDeviceGetPowerUsage(Gpu *gpu, unsigned *into) { BEGIN(gpu); return unsigned_of(&gpu->power, 1000, into); }
int nvmlDeviceGetEnforcedPowerLimit(Gpu *gpu, unsigned *into) { BEGIN(gpu); return unsigned_of(&gpu->power_limit, 1000, into); }

/* What other monitors ask besides; idle answers that no scenario changes. */
#define ONE(name, value) int name(Gpu *gpu, unsigned *into) { BEGIN(gpu); *into = (value); return SUCCESS; }
#define TWO(name, first, second) \
    int name(Gpu *gpu, unsigned *into, unsigned *more) { BEGIN(gpu); *into = (first); *more = (second); return SUCCESS; }
#define NONE(name) int name(Gpu *gpu) { BEGIN(gpu); return NOT_SUPPORTED; }
TWO(nvmlDeviceGetEncoderUtilization, 0, 167000)
TWO(nvmlDeviceGetDecoderUtilization, 0, 167000)
ONE(nvmlDeviceGetFanSpeed, 30)
ONE(nvmlDeviceGetPerformanceState, 8)
int nvmlDeviceGetPersistenceMode(Gpu *gpu, unsigned *into) { BEGIN(gpu); return unsigned_of(&gpu->persistence, 1, into); }
ONE(nvmlDeviceGetDisplayMode, 0)
ONE(nvmlDeviceGetPowerManagementDefaultLimit, 450000)
ONE(nvmlDeviceGetMaxPcieLinkGeneration, 4)
ONE(nvmlDeviceGetMaxPcieLinkWidth, 16)
ONE(nvmlDeviceGetGpuMaxPcieLinkGeneration, 4)
int nvmlDeviceGetCurrPcieLinkGeneration(Gpu *gpu, unsigned *into) { BEGIN(gpu); return unsigned_of(&gpu->generation, 1, into); }
int nvmlDeviceGetCurrPcieLinkWidth(Gpu *gpu, unsigned *into) { BEGIN(gpu); return unsigned_of(&gpu->width, 1, into); }
NONE(nvmlDeviceGetEccMode)
NONE(nvmlDeviceGetTotalEccErrors)
NONE(nvmlDeviceGetBAR1MemoryInfo)
NONE(nvmlDeviceGetDriverModel)
NONE(nvmlDeviceGetDriverModel_v2)
typedef struct { unsigned pid; unsigned long long when; unsigned sm, memory, encoder, decoder; } Share;
int nvmlDeviceGetProcessUtilization(Gpu *gpu, Share *into, unsigned *count, unsigned long long since)
{
    unsigned room = *count, found = 0;
    BEGIN(gpu);
    (void)since;
    for (int i = 0; i < gpu->process_count; i++) {
        if (!gpu->processes[i].share) continue;
        Share it = {gpu->processes[i].pid, (unsigned long long)(seconds() * 1e6) + 1, (unsigned)gpu->processes[i].share, 0, 0, 0};
        if (into && found < room) into[found] = it;
        found++;
    }
    *count = found;
    return !found ? NOT_FOUND : found > room || !into ? INSUFFICIENT_SIZE : SUCCESS;
}
int nvmlDeviceGetTemperatureThreshold(Gpu *gpu, int kind, unsigned *into) { (void)kind; BEGIN(gpu); return unsigned_of(&gpu->slowdown, 1, into); }
int nvmlDeviceGetPcieThroughput(Gpu *gpu, int direction, unsigned *into)
{
    BEGIN(gpu);
    *into = direction ? 2000 : 1000;
    return SUCCESS;
}
int nvmlDeviceGetPowerManagementLimit(Gpu *gpu, unsigned *into) { BEGIN(gpu); return unsigned_of(&gpu->power_limit, 1000, into); }
int nvmlDeviceGetClockInfo(Gpu *gpu, int kind, unsigned *into) { BEGIN(gpu); *into = 300 + (unsigned)kind; return SUCCESS; }
int nvmlDeviceGetMaxClockInfo(Gpu *gpu, int kind, unsigned *into) { BEGIN(gpu); *into = 2100 + (unsigned)kind; return SUCCESS; }

typedef struct { unsigned field, scope; long long when, took; unsigned type, code; union { unsigned small; double large; unsigned long long wide; } value; } Field;
int nvmlDeviceGetFieldValues(Gpu *gpu, int count, Field *fields)
{
    BEGIN(gpu);
    for (int place = 0; place < count; place++) {
        Field *field = &fields[place];
        Number *counter = field->field == 197 ? &gpu->sent : &gpu->received;
        field->type = 1;
        if (field->field == 230) field->code = (unsigned)unsigned_of(&gpu->recovery, 1, &field->value.small);
        else if (field->field == 82) field->code = (unsigned)unsigned_of(&gpu->memory_temperature, 1, &field->value.small);
        else if (field->field == 197 || field->field == 198) {
            /* bytes a second, told as what has been counted since the beginning, in 64 bits */
            field->code = (unsigned)counter->code, field->type = 3;
            field->value.wide = (unsigned long long)(now_of(counter) * seconds());
        } else field->code = NOT_SUPPORTED;
    }
    return SUCCESS;
}

typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char address[32]; } Pci;
int nvmlDeviceGetPciInfo_v3(Gpu *gpu, Pci *into)
{
    BEGIN(gpu);
    memset(into, 0, sizeof *into);
    if (gpu->pci[0] == '!') return atoi(gpu->pci + 1);
    if (sscanf(gpu->pci, "%x:%x:%x", &into->domain, &into->bus, &into->device) != 3) return UNKNOWN;
    snprintf(into->address, sizeof into->address, "%08X:%02X:%02X.0", into->domain, into->bus & 255, into->device & 255);
    snprintf(into->legacy, sizeof into->legacy, "%04X:%02X:%02X.0", into->domain & 65535, into->bus & 255, into->device & 255);
    into->id = gpu->id;
    return SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(Gpu *gpu, int *major, int *minor)
{
    BEGIN(gpu);
    *major = (int)gpu->major.low;
    *minor = (int)gpu->minor.low;
    return gpu->major.code;
}

int nvmlDeviceGetUtilizationRates(Gpu *gpu, unsigned into[2])
{
    BEGIN(gpu);
    into[1] = 0;
    return unsigned_of(&gpu->utilization, 1, into);
}

int nvmlDeviceGetTemperature(Gpu *gpu, int sensor, unsigned *into)
{
    BEGIN(gpu);
    return sensor ? INVALID_ARGUMENT : unsigned_of(&gpu->temperature, 1, into);
}

static int throttle_of(Gpu *gpu, unsigned long long *into)
{
    *into = (unsigned long long)now_of(&gpu->throttle);
    return gpu->throttle.code;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(Gpu *gpu, unsigned long long *into) { BEGIN(gpu); return throttle_of(gpu, into); }

/* ---- memory: the first call counts what the driver reserves as used, the second tells it apart */

typedef struct { unsigned long long total, free, used; } Memory;
static int memory_of(const Gpu *gpu, Memory *into)
{
    into->total = gpu->total.low < 0 ? gpu->total_bytes : (unsigned long long)now_of(&gpu->total) * MIB;
    into->used = gpu->used.low < 0 ? gpu->used_bytes : (unsigned long long)(now_of(&gpu->used) * (double)MIB);
    unsigned long long taken = into->used + (unsigned long long)now_of(&gpu->reserved) * MIB;
    into->free = taken < into->total ? into->total - taken : 0;
    return gpu->total.code ? gpu->total.code : gpu->used.code;
}
static int memory_at(void *handle, Memory *into)
{
    Mig *instance = instance_of(handle);
    if (!instance) return memory_of(handle, into);
    Gpu alone = {.total = instance->total, .used = instance->used};
    return memory_of(&alone, into);
}
int nvmlDeviceGetMemoryInfo(void *gpu, Memory *into)
{
    BEGIN(gpu);
    int code = memory_at(gpu, into);
    into->used = into->total - into->free;
    return code;
}

/* ---- processes: three layouts of one entry */

typedef struct { unsigned pid; unsigned long long used; } Process1;
typedef struct { unsigned pid; unsigned long long used; unsigned instance, compute; } Process2;
typedef struct { unsigned pid; unsigned long long used; unsigned instance, compute; unsigned long long hidden; } Process3;

static int list(void *handle, char kind, unsigned *count, void *into, size_t size)
{
    const Gpu *gpu = &gpus[place(handle)];
    const Mig *instance = instance_of(handle);
    unsigned room = *count, found = 0;
    double at = seconds();
    for (int i = 0; i < gpu->process_count; i++) {
        const Process *it = &gpu->processes[i];
        if (it->kind != kind || (instance && it->instance != instance->instance) || at < it->from || at >= it->until) continue;
        Process3 entry = {it->pid, it->known ? (unsigned long long)(now_of(&it->used) * (double)MIB) : NOT_AVAILABLE,
                          (unsigned)it->instance, ~0u, NOT_AVAILABLE};
        if (found < room && into) memcpy((char *)into + found * size, &entry, size);
        found++;
    }
    *count = found;
    return found > room ? INSUFFICIENT_SIZE : SUCCESS;
}
#define LIST(name, letter, size) \
    int name(void *gpu, unsigned *count, void *into) \
    { \
        int code = begin(__func__, place(gpu), false); \
        if (!code && place(gpu) < 0) code = INVALID_ARGUMENT; \
        if (!code) code = list(gpu, letter, count, into, size); \
        if (wanted >= 0) *count = (unsigned)wanted; \
        return code; \
    }
LIST(nvmlDeviceGetComputeRunningProcesses, 'c', sizeof(Process1))
LIST(nvmlDeviceGetGraphicsRunningProcesses, 'g', sizeof(Process1))

/* ---- what drivers of 2020 did not have */

#ifndef OLD
int nvmlDeviceGetMemoryInfo_v2(void *gpu, unsigned *into)
{
    BEGIN(gpu);
    Memory memory;
    if (*into != MEMORY_V2) return VERSION_MISMATCH;
    int code = memory_at(gpu, &memory);
    unsigned long long *out = (unsigned long long *)into + 1;
    out[0] = memory.total; out[1] = memory.total - memory.free - memory.used; out[2] = memory.free; out[3] = memory.used;
    return code;
}
LIST(nvmlDeviceGetComputeRunningProcesses_v2, 'c', sizeof(Process2))
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, 'g', sizeof(Process2))
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, 'm', sizeof(Process2))
LIST(nvmlDeviceGetComputeRunningProcesses_v3, 'c', wide_processes ? sizeof(Process3) : sizeof(Process2))
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, 'g', wide_processes ? sizeof(Process3) : sizeof(Process2))
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, 'm', wide_processes ? sizeof(Process3) : sizeof(Process2))

int nvmlDeviceGetTemperatureV(Gpu *gpu, unsigned *into)
{
    BEGIN(gpu);
    return into[0] != TEMPERATURE_V1 ? VERSION_MISMATCH : unsigned_of(&gpu->temperature, 1, into + 2);
}
int nvmlDeviceGetMarginTemperature(Gpu *gpu, int *into) { BEGIN(gpu); into[1] = (int)now_of(&gpu->margin); return gpu->margin.code; }

/* ---- events: each Xid once, when its time has come */

typedef struct { void *device; unsigned long long type, data; unsigned instance, compute; } Event;
int nvmlEventSetCreate(void **into) { BEGIN_SYSTEM(); *into = &opened; return SUCCESS; }
int nvmlEventSetFree(void *set) { (void)set; BEGIN_SYSTEM(); return SUCCESS; }
int nvmlDeviceGetSupportedEventTypes(Gpu *gpu, unsigned long long *into) { BEGIN(gpu); *into = 0x1f; return SUCCESS; }
int nvmlDeviceRegisterEvents(Gpu *gpu, unsigned long long types, void *set) { (void)types; (void)set; BEGIN(gpu); return SUCCESS; }
int nvmlEventSetWait_v2(void *set, Event *into, unsigned milliseconds)
{
    (void)set; (void)milliseconds;
    BEGIN_SYSTEM();
    for (int i = 0; i < gpu_count; i++)
        for (int j = 0; j < gpus[i].xid_count; j++) {
            Xid *it = &gpus[i].xids[j];
            if (it->told || seconds() < it->from) continue;
            it->told = true;
            *into = (Event){.device = &gpus[i], .type = 8, .data = (unsigned long long)it->number, .instance = ~0u, .compute = ~0u};
            return SUCCESS;
        }
    return TIMEOUT;
}

/* ---- activity of the units: a sample holds nothing but the device that it is of */

typedef struct { unsigned metric; int code; double value; const char *texts[3]; } Metric;
typedef struct { unsigned version, count; Gpu **first, **second; Metric metrics[333]; } Metrics;
int nvmlGpmQueryDeviceSupport(Gpu *gpu, unsigned *into) { BEGIN(gpu); into[1] = !gpu->sm_activity.code; return SUCCESS; }
int nvmlGpmSampleAlloc(void **into) { BEGIN_SYSTEM(); *into = calloc(1, sizeof(Gpu *)); return SUCCESS; }
int nvmlGpmSampleFree(void *sample) { BEGIN_SYSTEM(); free(sample); return SUCCESS; }
int nvmlGpmSampleGet(Gpu *gpu, Gpu **sample) { BEGIN(gpu); *sample = gpu; return SUCCESS; }
int nvmlGpmMetricsGet(Metrics *wanted)
{
    BEGIN_SYSTEM();
    for (unsigned i = 0; i < wanted->count; i++) {
        const Number *it = wanted->metrics[i].metric == 2 ? &(*wanted->first)->sm_activity : &(*wanted->first)->tensor_activity;
        wanted->metrics[i].value = now_of(it);
        wanted->metrics[i].code = *wanted->first == *wanted->second ? it->code : INVALID_ARGUMENT;
    }
    return SUCCESS;
}
int nvmlDeviceGetCurrentClocksEventReasons(Gpu *gpu, unsigned long long *into) { BEGIN(gpu); return throttle_of(gpu, into); }
int nvmlDeviceGetMigMode(Gpu *gpu, unsigned *now, unsigned *pending)
{
    BEGIN(gpu);
    unsigned_of(&gpu->mig, 1, pending);
    return unsigned_of(&gpu->mig, 1, now);
}
int nvmlDeviceGetMaxMigDeviceCount(Gpu *gpu, unsigned *into) { BEGIN(gpu); *into = gpu->mig.code ? 0 : 7; return SUCCESS; }
int nvmlDeviceGetMigDeviceHandleByIndex(Gpu *gpu, unsigned index, void **into)
{
    BEGIN(gpu);
    if (index >= (unsigned)gpu->mig_count) return NOT_FOUND;
    *into = &gpu->migs[index];
    return SUCCESS;
}
#endif

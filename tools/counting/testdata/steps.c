/*
 * Counts the bytecode instructions that each method of an application executes, by JVMTI's
 * SingleStep events: an oracle that shares nothing with Rivulet. Options: the file that gets
 * the counts at the end, a comma, and the prefix of the class signatures that count ("Lwork/").
 * The JVM must interpret (-Xint) and must not rewrite instructions (-XX:-RewriteBytecodes,
 * -XX:-RewriteFrequentPairs): several of them would be one step. Instructions that are
 * resolving a class or run while one is initialized may be missed.
 */
#include <jvmti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1 << 16 };

typedef struct {
    jmethodID method;
    char *name; /* NULL: it does not count */
    long steps;
} entry;

static entry *volatile table[SIZE];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char file[4096], prefix[256];

static entry *make(jvmtiEnv *env, JNIEnv *jni, jmethodID method) {
    entry *e = calloc(1, sizeof *e);
    jclass class;
    char *signature = NULL, *name = NULL, *desc = NULL;
    if (!e) abort();
    e->method = method;
    if ((*env)->GetMethodDeclaringClass(env, method, &class) == JVMTI_ERROR_NONE) {
        if ((*env)->GetClassSignature(env, class, &signature, NULL) == JVMTI_ERROR_NONE && strncmp(signature, prefix, strlen(prefix)) == 0 &&
            (*env)->GetMethodName(env, method, &name, &desc, NULL) == JVMTI_ERROR_NONE) {
            size_t n = strlen(signature) + strlen(name) + strlen(desc) + 4;
            e->name = malloc(n);
            if (!e->name) abort();
            snprintf(e->name, n, "%s.%s%s", signature, name, desc);
            (*env)->Deallocate(env, (unsigned char *)name);
            (*env)->Deallocate(env, (unsigned char *)desc);
        }
        if (signature) (*env)->Deallocate(env, (unsigned char *)signature);
        (*jni)->DeleteLocalRef(jni, class);
    }
    return e;
}

static void JNICALL step(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method, jlocation at) {
    size_t i = ((size_t)method >> 3) * 31 % SIZE;
    entry *e;
    while ((e = table[i]) && e->method != method) i = (i + 1) % SIZE;
    if (!e) {
        entry *made = make(env, jni, method);
        pthread_mutex_lock(&lock);
        while ((e = table[i]) && e->method != method) i = (i + 1) % SIZE;
        if (!e) e = table[i] = made;
        pthread_mutex_unlock(&lock);
    }
    if (e->name) __sync_fetch_and_add(&e->steps, 1);
}

static void JNICALL started(jvmtiEnv *env, JNIEnv *jni, jthread thread) {
    (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_SINGLE_STEP, NULL);
}

static void JNICALL ended(jvmtiEnv *env, JNIEnv *jni) {
    FILE *out;
    (*env)->SetEventNotificationMode(env, JVMTI_DISABLE, JVMTI_EVENT_SINGLE_STEP, NULL);
    out = fopen(file, "w");
    if (!out) abort();
    for (size_t i = 0; i < SIZE; i++) {
        if (table[i] && table[i]->name) fprintf(out, "%ld %s\n", table[i]->steps, table[i]->name);
    }
    fclose(out);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    jvmtiEnv *env;
    jvmtiCapabilities can;
    jvmtiEventCallbacks on;
    memset(&can, 0, sizeof can);
    memset(&on, 0, sizeof on);
    if (!options || sscanf(options, "%4095[^,],%255s", file, prefix) != 2) return JNI_ERR;
    if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_1) != JNI_OK) return JNI_ERR;
    can.can_generate_single_step_events = 1;
    if ((*env)->AddCapabilities(env, &can) != JVMTI_ERROR_NONE) return JNI_ERR;
    on.SingleStep = step;
    on.VMInit = started;
    on.VMDeath = ended;
    if ((*env)->SetEventCallbacks(env, &on, sizeof on) != JVMTI_ERROR_NONE) return JNI_ERR;
    (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
    (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
    return JNI_OK;
}

#include <jni.h>

JNIEXPORT jlong JNICALL Java_t_Natives_linked(JNIEnv *env, jclass c, jint a, jlong b, jdouble d, jobject o) {
    return a + b + (jlong)d + (*env)->GetStringUTFLength(env, (jstring)o) + 3;
}

JNIEXPORT void JNICALL Java_t_Natives_throwing(JNIEnv *env, jclass c) {
    (*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/IllegalStateException"), "thrown");
}

JNIEXPORT void JNICALL Java_t_Natives_back(JNIEnv *env, jclass c, jobject r) {
    (*env)->CallVoidMethod(env, r, (*env)->GetMethodID(env, (*env)->GetObjectClass(env, r), "run", "()V"));
}

JNIEXPORT jobject JNICALL Java_t_Natives_self(JNIEnv *env, jobject self, jobject other) { return self; }

package rivulet.probe.stub;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Stands for the JVM's annotation of that name, which it honours in classes of the bootstrap loader. */
@Retention(RetentionPolicy.RUNTIME)
public @interface DontInline {}

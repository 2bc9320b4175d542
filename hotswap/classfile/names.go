package classfile

// Names of the attributes that are understood (§4.7).
const (
	AttrCode                = "Code"
	AttrStackMapTable       = "StackMapTable"
	AttrLineNumbers         = "LineNumberTable"
	AttrLocalVariables      = "LocalVariableTable"
	AttrLocalVariableTypes  = "LocalVariableTypeTable"
	AttrVisibleTypeAnnots   = "RuntimeVisibleTypeAnnotations"
	AttrInvisibleTypeAnnots = "RuntimeInvisibleTypeAnnotations"
	AttrBootstrapMethods    = "BootstrapMethods"
	AttrMethodParameters    = "MethodParameters"
	AttrSourceFile          = "SourceFile"
)

const (
	initName    = "<init>"
	objectClass = "java/lang/Object"
)

// Letters of descriptors (§4.3).
const (
	descOpen      = '('
	descObject    = 'L'
	descArray     = '['
	descObjectEnd = ';'
)

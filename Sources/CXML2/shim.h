#pragma once
#include <libxml/xmlversion.h>
// libxml2 built with ICU includes ICU's headers, which Foundation also contains in another module. Only a
// struct of character encodings depends on it, and nothing here uses that.
#undef LIBXML_ICU_ENABLED
#include <libxml/xmlwriter.h>

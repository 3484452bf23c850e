#pragma once
#include <libxml/xmlversion.h>
// libxml2 built with ICU includes ICU's headers, which Foundation brings along under another module. Only a
// struct of character encodings depends on it, and nothing here looks into that.
#undef LIBXML_ICU_ENABLED
#include <libxml/xmlwriter.h>

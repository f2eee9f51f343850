package com.oneclaw.chat

/** All texts of a language, by group and name: `chat.send`. */
fun wordsOf(strings: Strings): Map<String, String> = buildMap {
    for (group in strings.javaClass.declaredFields.filterNot { it.type.isPrimitive || it.name == "Companion" }) {
        group.isAccessible = true
        val values = group.get(strings) ?: continue
        for (field in values.javaClass.declaredFields.filter { it.type == String::class.java }) {
            field.isAccessible = true
            put("${group.name}.${field.name}", field.get(values) as String)
        }
    }
}

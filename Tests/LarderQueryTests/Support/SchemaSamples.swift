/// Schema files that several suites parse.
enum SchemaSamples {
    static let articles = """
        { "version": "1.0.0",
          "entities": [
            { "name": "Article",
              "attributes": [
                { "name": "title",     "type": "string", "indexed": true },
                { "name": "wordCount", "type": "int64",  "default": 0, "minimum": 0 },
                { "name": "published", "type": "date",   "optional": true } ],
              "relationships": [
                { "name": "category",   "destination": "Category", "inverse": "articles",
                  "deleteRule": "nullify" },
                { "name": "collection", "destination": "ArticleCollection",
                  "inverse": "articles" } ],
              "unique": [["title", "collection"]], "indexes": [["published", "title"]] },
            { "name": "Category",
              "attributes": [ { "name": "name", "type": "string", "unique": true } ],
              "relationships": [ { "name": "articles", "destination": "Article", "toMany": true,
                                   "inverse": "category" } ] },
            { "name": "ArticleCollection",
              "attributes": [ { "name": "name", "type": "string" } ],
              "relationships": [ { "name": "articles", "destination": "Article", "toMany": true,
                                   "ordered": true, "inverse": "collection",
                                   "deleteRule": "cascade" } ] } ] }
        """

    static let everyType = """
        {"version":"2.10.3","entities":[{"name":"Every","originalName":"Each",
         "hashModifier":"1","history":"values","attributes":[
          {"name":"a","type":"bool","default":true,"originalName":"z","hashModifier":"é\\n"},
          {"name":"b","type":"int16","default":-32768,"minimum":-32768,"maximum":32767},
          {"name":"c","type":"int32","default":2147483647},
          {"name":"d","type":"int64","default":"9223372036854775807","indexed":true},
          {"name":"e","type":"float","default":0.1,"minimum":"-inf","maximum":1e30},
          {"name":"f","type":"double","default":1,"minimum":-1e300},
          {"name":"g","type":"decimal","default":"0.12345678901234567890123","minimum":0},
          {"name":"h","type":"string","default":"é\\n","minLength":2,"maxLength":9,
           "pattern":"[a-z]*"},
          {"name":"i","type":"date","default":"2026-01-31T08:15:00.25Z","minimum":"2001-01-01"},
          {"name":"j","type":"uuid","default":"0f8fad5b-d9cb-469f-a165-70867728950e"},
          {"name":"k","type":"url","default":"https://example.org/","unique":true},
          {"name":"l","type":"data","default":"AP8=","maxLength":2},
          {"name":"m","type":"json","default":{"b":[1,null],"a":"x"},"optional":true}],
         "relationships":[
          {"name":"next","destination":"Every","inverse":"previous","originalName":"following",
           "hashModifier":""},
          {"name":"previous","destination":"Every","inverse":"next","optional":false},
          {"name":"others","destination":"Every","toMany":true,"deleteRule":"cascade"}],
         "unique":[["a","b"],["next"]],"indexes":[["c"],["a","b"],["b","a"]]}]}
        """
}

/** Prints what Jayway's JSONPath selects in a file, one line of JSON for each selector: java -cp 'jars/*' Select.java FILE SELECTOR... */
import com.jayway.jsonpath.DocumentContext;
import com.jayway.jsonpath.JsonPath;
import java.io.File;
import java.util.Arrays;
import net.minidev.json.JSONValue;

class Select {
    public static void main(String[] words) throws Exception {
        DocumentContext file = JsonPath.parse(new File(words[0]));
        for (String selector : Arrays.copyOfRange(words, 1, words.length)) {
            System.out.println(JSONValue.toJSONString((Object) file.read(selector)));
        }
    }
}

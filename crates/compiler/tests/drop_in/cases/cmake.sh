# needs: cmake
# carries: build/program: TWIN/use_both.c TWIN/shapes.c TWIN/edges.c
# volatile: build
cat > CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(shapes C)
add_library(shapes STATIC shapes.c edges.c unused.c)
add_executable(program use_both.c)
target_link_libraries(program shapes)
END
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release > cmake.log
cmake --build build > /dev/null
rm cmake.log
./build/program
